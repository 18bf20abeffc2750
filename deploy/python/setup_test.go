//go:build linux

// Package setup_test runs the set-up script as an ordinary user, offline: the
// interpreters are real ones, in virtual environments with made-up libraries.
package setup_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

func TestGiven(t *testing.T) {
	f := newFixture(t)
	bare, full := f.interpreter("bare"), f.interpreterWithLibraries("full")
	shim := f.write("shims/python3", "#!/bin/sh\nexec '"+bare+"' \"$@\"\n", 0o755)
	link := filepath.Join(f.dir, "link")
	if err := os.Symlink(full, link); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, given string
		want        outcome
	}{
		{"with the libraries", full, outcome{stdout: full, stderr: "MCP_EXEC_PYTHON: " + full}},
		{"without them", bare, outcome{stdout: bare, stderr: "warning: cannot import numpy, pandas, matplotlib, PIL, yaml, jinja2"}},
		{"shim is resolved once", shim, outcome{stdout: bare, stderr: "MCP_EXEC_PYTHON: " + bare}},
		{"not there", f.dir + "/none", outcome{status: 3, stderr: "no Python runs there; correct it or unset it"}},
		{"no Python", "/bin/true", outcome{status: 3, stderr: "no Python runs there; correct it or unset it"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f.run(t, []string{"MCP_EXEC_PYTHON=" + tt.given}).check(t, tt.want)
		})
	}
}

func TestInstalled(t *testing.T) {
	f := newFixture(t)
	bare, full := f.interpreter("bare"), f.interpreterWithLibraries("full")
	libraries := filepath.Dir(f.module(full, "numpy.py"))
	broken := f.interpreterWithLibraries("broken")
	f.write(f.module(broken, "pandas.py"), "raise ImportError('built for another numpy')\n", 0o644)
	shim := f.write("shims/python3", "#!/bin/sh\nexec '"+full+"' \"$@\"\n", 0o755)
	tests := []struct {
		name  string
		env   []string
		names []string
		want  outcome
	}{
		{"first that has them", nil, []string{bare, full}, outcome{stdout: full, stderr: bare + ": cannot import numpy"}},
		{"library does not load", nil, []string{broken, full}, outcome{stdout: full, stderr: broken + ": cannot import pandas\n"}},
		{"shim", nil, []string{shim}, outcome{stdout: full, stderr: full + " has the libraries"}},
		{"from PATH", []string{"PATH=" + filepath.Dir(full) + ":/usr/bin:/bin"}, []string{"python3"}, outcome{
			stdout: filepath.Join(filepath.Dir(full), "python3"), stderr: "has the libraries"}},
		{"caller's PYTHONPATH does not count", []string{"PYTHONPATH=" + libraries}, []string{bare, full}, outcome{
			stdout: full, stderr: bare + ": cannot import numpy"}},
		{"caller's PYTHONHOME does not count", []string{"PYTHONHOME=/nonexistent"}, []string{full}, outcome{
			stdout: full, stderr: "has the libraries"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f.run(t, tt.env, tt.names...).check(t, tt.want)
		})
	}
}

func TestFontList(t *testing.T) {
	f := newFixture(t)
	full := f.interpreterWithLibraries("full")
	f.run(t, nil, full).check(t, outcome{stdout: full})
	list := filepath.Join(f.dir, "full/share/mcp-exec/matplotlib/fontlist-v1.json")
	info, err := os.Stat(list)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&0o444 != 0o444 {
		t.Errorf("%s has mode %v, want it readable by all", list, info.Mode())
	}
}

// One environment is made by two set-ups at once, over what a killed one left,
// and is used again while it works. A broken one is made anew; when that fails,
// what pip says is shown, and nobody takes the rest for an environment.
func TestVirtual(t *testing.T) {
	f := newFixture(t)
	bare := f.interpreter("bare")
	f.needsEnsurepip(bare)
	env := []string{"HOME=" + f.dir + "/home", "XDG_CACHE_HOME=relative", "TMPDIR=/nonexistent"}
	venv := filepath.Join(f.dir, "home/.cache/mcp-exec", f.venvName(bare))
	python := f.write(filepath.Join(venv, "bin/python"), "half", 0o755)

	var both [2]outcome
	var wg sync.WaitGroup
	for i := range both {
		wg.Go(func() { both[i] = f.run(t, env, bare) })
	}
	wg.Wait()
	made := 0
	for _, got := range both {
		got.check(t, outcome{stdout: python})
		made += strings.Count(got.stderr, "making "+venv)
	}
	if made != 1 {
		t.Fatalf("two set-ups at once made %d environments, want 1\n%s\n%s", made, both[0].stderr, both[1].stderr)
	}

	f.run(t, env, bare).check(t, outcome{stdout: python, stderr: venv + " is there"})

	f.remove(f.module(python, "numpy.py"))
	f.remove(filepath.Join(f.dir, "wheels/libraries-1-py3-none-any.whl"))
	got := f.run(t, env, bare)
	got.check(t, outcome{status: 3, stderr: python + ": cannot import numpy\nsetup: making " + venv})
	got.check(t, outcome{status: 3, stderr: "setup: pip install: ERROR: "})
	got.check(t, outcome{status: 3, stderr: "setup: no Python for the sandbox; remedy: apt install python3-venv\n"})
	if _, err := os.Stat(venv + "/.complete"); !os.IsNotExist(err) {
		t.Errorf("mark of a complete environment: %v, want it absent", err)
	}
}

func TestNothingLeft(t *testing.T) {
	f := newFixture(t)
	f.run(t, []string{"TMPDIR=/nonexistent"}, "no-such-python").check(t, outcome{status: 3,
		stderr: "setup: no interpreter here can make a virtual environment (venv, ensurepip)\n" +
			"setup: no Python for the sandbox; remedy: apt install python3-venv\n"})
}

// The sandbox of a server started by root runs as a user who owns nothing.
func TestRootPassesOverPrivateHome(t *testing.T) {
	sandboxtest.Require(t, "root")
	f := newFixture(t)
	private, full := f.interpreterWithLibraries("private"), f.interpreterWithLibraries("full")
	if err := os.Chmod(filepath.Join(f.dir, "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.credential = nil
	f.run(t, nil, private, full).check(t, outcome{stdout: full, stderr: private + ": cannot be run by the sandbox's user"})
	f.run(t, []string{"MCP_EXEC_PYTHON=" + private}).check(t, outcome{stdout: private,
		stderr: "warning: cannot be run by the sandbox's user"})
}

// outcome of a run; as what is wanted, stderr is a part.
type outcome struct {
	status         int
	stdout, stderr string
}

func (got outcome) check(t *testing.T, want outcome) {
	t.Helper()
	if got.status != want.status || strings.TrimSuffix(got.stdout, "\n") != want.stdout || !strings.Contains(got.stderr, want.stderr) {
		t.Errorf("setup = exit %d, stdout %q, stderr\n%swant exit %d, stdout %q, stderr with %q",
			got.status, got.stdout, got.stderr, want.status, want.stdout, want.stderr)
	}
}

// run starts the script with nothing in its environment but env.
func (f *fixture) run(t *testing.T, env []string, names ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), filepath.Join(f.dir, "setup/setup"), names...)
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + f.wheels}, env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: f.credential}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return outcome{status: -1, stderr: err.Error()}
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
