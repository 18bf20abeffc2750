//go:build linux

package setup_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

// libraries stand in for the six: what the script imports, and no more.
var libraries = map[string]string{
	"numpy.py":               "",
	"pandas.py":              "",
	"yaml.py":                "",
	"jinja2.py":              "",
	"PIL/__init__.py":        "",
	"PIL/Image.py":           "",
	"matplotlib/__init__.py": "",
	"matplotlib/ft2font.py":  "",
	"matplotlib/font_manager.py": "import os\n" +
		"open(os.environ['MPLCONFIGDIR'] + '/fontlist-v1.json', 'w').close()\n",
}

// fixture is a directory with spaces in its name, where the script stands beside
// requirements of its own, and the user that runs it.
type fixture struct {
	t          *testing.T
	dir        string
	wheels     string // URL of the directory that pip looks in
	credential *syscall.Credential
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir, err := os.MkdirTemp("", "mcp-exec set-up ")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	f := &fixture{t: t, dir: dir, wheels: (&url.URL{Scheme: "file", Path: dir + "/wheels"}).String()}
	if os.Geteuid() == 0 {
		f.credential = &syscall.Credential{Uid: 65533, Gid: 65533}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f.own(dir)
	script, err := os.ReadFile("setup")
	if err != nil {
		t.Fatal(err)
	}
	f.write("setup/setup", string(script), 0o755)
	sum := sha256.Sum256([]byte(f.wheel()))
	f.write("setup/requirements.txt", fmt.Sprintf("libraries==1 --hash=sha256:%x\n", sum), 0o644)
	return f
}

// own gives a file to the user that runs the script.
func (f *fixture) own(path string) {
	f.t.Helper()
	if f.credential == nil {
		return
	}
	if err := os.Lchown(path, int(f.credential.Uid), int(f.credential.Gid)); err != nil {
		f.t.Fatal(err)
	}
}

// write makes a file, below the fixture's directory when the path is relative,
// and the directories above it.
func (f *fixture) write(path, content string, mode fs.FileMode) string {
	f.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	var missing []string
	for dir := filepath.Dir(path); dir != f.dir; dir = filepath.Dir(dir) {
		missing = append(missing, dir)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		f.t.Fatal(err)
	}
	for _, p := range append(missing, path) {
		f.own(p)
	}
	return path
}

func (f *fixture) remove(path string) {
	f.t.Helper()
	if err := os.Remove(path); err != nil {
		f.t.Fatal(err)
	}
}

// wheel writes the libraries as one package and returns its bytes.
func (f *fixture) wheel() string {
	f.t.Helper()
	files := map[string]string{
		"libraries-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: libraries\nVersion: 1\n",
		"libraries-1.dist-info/WHEEL":    "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"libraries-1.dist-info/RECORD":   "",
	}
	for name, content := range libraries {
		files[name] = content
		files["libraries-1.dist-info/RECORD"] += name + ",,\n"
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.write("wheels/libraries-1-py3-none-any.whl", b.String(), 0o644)
	return b.String()
}

// interpreter makes a virtual environment without libraries.
func (f *fixture) interpreter(name string) string {
	f.t.Helper()
	f.python(f.base(), "-I", "-m", "venv", "--without-pip", filepath.Join(f.dir, name))
	return filepath.Join(f.dir, name, "bin/python")
}

func (f *fixture) interpreterWithLibraries(name string) string {
	f.t.Helper()
	python := f.interpreter(name)
	for file, content := range libraries {
		f.write(f.module(python, file), content, 0o644)
	}
	return python
}

// module is the path of a file in an interpreter's site-packages.
func (f *fixture) module(python, file string) string {
	f.t.Helper()
	return filepath.Join(f.python(python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"), file)
}

// venvName is what the script calls an environment made from base.
func (f *fixture) venvName(base string) string {
	f.t.Helper()
	requirements, err := os.ReadFile(filepath.Join(f.dir, "setup/requirements.txt"))
	if err != nil {
		f.t.Fatal(err)
	}
	version := f.python(base, "-I", "-c", "import platform; print(platform.python_version() + '-' + platform.machine())")
	sum := sha256.Sum256(requirements)
	return fmt.Sprintf("python-%s-%x", version, sum[:6])
}

// base is a Python that the user of the fixture can run.
func (f *fixture) base() string {
	f.t.Helper()
	const ask = "import sys; print(sys.executable if (3, 10) <= sys.version_info[:2] <= (3, 14) else '')"
	for _, python := range []string{os.Getenv("MCP_EXEC_PYTHON"), "/usr/bin/python3", "python3"} {
		if python == "" {
			continue
		}
		if out, err := f.command(python, "-I", "-c", ask).Output(); err == nil && len(out) > 1 {
			return strings.TrimSpace(string(out))
		}
	}
	f.missing("python", "needs a Python 3.10 to 3.14 that an ordinary user can run: set MCP_EXEC_PYTHON")
	return ""
}

func (f *fixture) needsEnsurepip(python string) {
	f.t.Helper()
	if err := f.command(python, "-I", "-c", "import ensurepip").Run(); err != nil {
		f.missing("ensurepip", "needs ensurepip: apt install python3-venv")
	}
}

// missing skips the test, or fails it where the mechanism is required.
func (f *fixture) missing(mechanism, remedy string) {
	f.t.Helper()
	if slices.Contains(strings.Split(os.Getenv(sandboxtest.RequireEnv), ","), mechanism) {
		f.t.Fatal(remedy)
	}
	f.t.Skip(remedy)
}

func (f *fixture) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(f.t.Context(), name, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: f.credential}
	return cmd
}

// python runs an interpreter and returns what it prints.
func (f *fixture) python(name string, args ...string) string {
	f.t.Helper()
	out, err := f.command(name, args...).CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}
