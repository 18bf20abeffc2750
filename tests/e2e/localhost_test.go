//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLocalhost: what needs a network of its own works there as anywhere.
func TestLocalhost(t *testing.T) {
	s := inNamespaces(t)
	for _, p := range specimens(t, "localhost") {
		t.Run(p.name, func(t *testing.T) {
			res := s.in(t).call(args{"code": p.code, "timeout_s": p.timeout})
			p.compare(t, s.place(t), res)
			if t.Failed() {
				t.Log(res.brief())
			}
		})
	}
	s.unharmed(t)
}

// interpreters are laid out in a private directory; each returns what to run. Below
// /tmp they lie where a run has a mount of its own.
var interpreters = []struct {
	name  string
	below string
	lay   func(t *testing.T, private, other string) string
}{
	{"all of it in a private home", "/var/tmp", func(t *testing.T, private, _ string) string {
		return copied(t, filepath.Join(private, "python"))
	}},
	{"copied virtual environment", "/var/tmp", func(t *testing.T, private, _ string) string {
		return venv(t, basePython(t), private, "--copies")
	}},
	{"virtual environment that links to another private place", "/tmp", func(t *testing.T, private, other string) string {
		return venv(t, copied(t, filepath.Join(other, "python")), private, "--symlinks")
	}},
	{"a linked directory on the way", "/tmp", func(t *testing.T, private, other string) string {
		copied(t, filepath.Join(other, "python"))
		link(t, filepath.Join(other, "python"), filepath.Join(private, "current"))
		return venv(t, filepath.Join(private, "current/bin/python3"), private, "--symlinks")
	}},
	{"a link to the command", "/tmp", func(t *testing.T, private, other string) string {
		link(t, copied(t, filepath.Join(other, "python")), filepath.Join(private, "py"))
		return filepath.Join(private, "py")
	}},
}

// useInterpreter imports from the library, starts itself, and looks for what else
// lies in the home.
const useInterpreter = `
import glob, os, subprocess, sys, sqlite3, ssl, json
import colorsys, multiprocessing
print(subprocess.run([sys.executable, "-c", "import colorsys, sys; print(sys.prefix == %r)" % sys.prefix], capture_output=True, text=True).stdout.strip())
home = %HOME%
print(os.path.exists(home + "/secret"), sorted(set(os.listdir(home)) - %SEEN%) if os.path.isdir(home) else [])
try:
    open(sys.prefix + "/left", "w")
except OSError:
    print("read-only")
`

// TestPrivateInterpreter: nobody but its owner may look into the home where it lies.
func TestPrivateInterpreter(t *testing.T) {
	requireOutside(t)
	requireNamespaces(t)
	for _, tt := range interpreters {
		t.Run(tt.name, func(t *testing.T) {
			private, other := privateDir(t, tt.below), privateDir(t, tt.below)
			python := tt.lay(t, private, other)
			s := startCommand(t, withPython(python))
			code := strings.NewReplacer("%HOME%", strconv.Quote(private), "%SEEN%", "{'bin', 'python', 'py', 'current', 'venv'}").Replace(useInterpreter)
			if got := s.run(code); got.Stdout != "True\nFalse []\nread-only\n" || got.Stderr != "" {
				t.Errorf("%s", got.brief())
			}
		})
	}
}

// TestInterpreterIsHome: a prefix that is the home itself would open all of it.
func TestInterpreterIsHome(t *testing.T) {
	requireOutside(t)
	requireNamespaces(t)
	home := privateDir(t, "/var/tmp")
	cmd := withPython(copied(t, home))
	cmd.Env = append(cmd.Env, "HOME="+home)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "would make every file in it readable") {
		t.Errorf("%v: %s", err, out)
	}
}

func withPython(python string) *exec.Cmd { return command("MCP_EXEC_PYTHON=" + python) }

// privateDir holds a secret, and nobody else may look into it.
func privateDir(t *testing.T, below string) string {
	t.Helper()
	dir, err := os.MkdirTemp(below, "mcp-exec-home")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(tokenCanary), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// basePython is the interpreter without a virtual environment around it.
func basePython(t *testing.T) string {
	t.Helper()
	return asked(t, "sys._base_executable")
}

func asked(t *testing.T, what string) string {
	t.Helper()
	out, err := exec.Command(os.Getenv("MCP_EXEC_PYTHON"), "-c", "import sys, os, sysconfig; print(os.path.realpath("+what+"))").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// copied is the interpreter with its library, without what is installed on top.
func copied(t *testing.T, dir string) string {
	t.Helper()
	library := asked(t, "sysconfig.get_path('stdlib', vars={'base': sys.base_prefix})")
	version := filepath.Base(library)
	for _, command := range [][]string{
		{"mkdir", "-p", dir + "/bin", dir + "/lib"},
		{"cp", basePython(t), dir + "/bin/" + version},
		{"cp", "-r", library, dir + "/lib/" + version},
		{"rm", "-rf", dir + "/lib/" + version + "/test", dir + "/lib/" + version + "/site-packages"},
		{"ln", "-s", version, dir + "/bin/python3"},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	return dir + "/bin/python3"
}

func venv(t *testing.T, python, private, kind string) string {
	t.Helper()
	dir := filepath.Join(private, "venv")
	if out, err := exec.Command(python, "-m", "venv", "--without-pip", kind, dir).CombinedOutput(); err != nil {
		t.Fatalf("venv: %v\n%s", err, out)
	}
	return dir + "/bin/python3"
}
