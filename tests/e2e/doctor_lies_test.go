//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

// lie is something that is not as a server needs it, and what doctor says of it.
type lie struct {
	name        string
	reason, fix string // parts of the words
	check       func(*testing.T, report)
}

func (l lie) test(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	r := examine(t, cmd)
	if r.Serves || !strings.Contains(r.Reason, l.reason) || !strings.Contains(r.Fix, l.fix) || r.Fix == "" {
		t.Errorf("serves %t, reason %q, fix %q; want %q, %q", r.Serves, r.Reason, r.Fix, l.reason, l.fix)
	}
	if l.check != nil {
		l.check(t, r)
	}
}

func TestDoctorBrokenPython(t *testing.T) {
	t.Parallel()
	// Not below /tmp, which a program has for itself.
	dir, err := os.MkdirTemp("/var/tmp", "mcp-exec-doctor")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	python := realPython(t)
	const setup = "deploy/python/setup"
	for _, tt := range []struct {
		lie
		script string
		mode   os.FileMode
	}{
		{lie{"not found", "no such file", setup, nil}, "", 0},
		{lie{"not executable", "permission denied", setup, nil}, "exit 0", 0o644},
		{lie{"prints garbage", "does not behave like one", setup, nil}, "echo hello", 0o755},
		{lie{"exits", "exit status 1: no way", setup, nil}, "echo no way >&2; exit 1", 0o755},
		{lie{"too old", "python is 3.9.2: needs CPython 3.10", setup, nil},
			`exec ` + python + ` -c 'import sys; sys.version_info = (3, 9, 2); exec(sys.argv[1])' "$2"`, 0o755},
		{lie{"python2", "python is 2.7.18: needs CPython 3.10", setup, nil},
			`exec ` + python + ` -c 'import sys; sys.version_info = (2, 7, 18); exec(sys.argv[1])' "$2"`, 0o755},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(tt.name, " ", "-"))
			if tt.mode != 0 {
				if err := os.WriteFile(path, []byte("#!/bin/sh\n"+tt.script+"\n"), tt.mode); err != nil {
					t.Fatal(err)
				}
			}
			tt.test(t, exec.CommandContext(t.Context(), binary, "doctor", "--json", "--python", path))
		})
	}
}

func realPython(t *testing.T) string {
	t.Helper()
	python := os.Getenv("MCP_EXEC_PYTHON")
	if python == "" {
		python = "python3"
	}
	path, err := exec.LookPath(python)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A Python that is one, but does not live on in a forked child; and one without
// the libraries, which is no reason not to serve.
func TestDoctorVenv(t *testing.T) {
	t.Parallel()
	requireNative(t)
	dir, err := os.MkdirTemp("/var/tmp", "mcp-exec-doctor")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), realPython(t), "-m", "venv", "--without-pip", dir).CombinedOutput(); err != nil {
		t.Fatalf("venv: %v\n%s", err, out)
	}
	command := func() *exec.Cmd {
		return exec.CommandContext(t.Context(), binary, "doctor", "--json", "--python", filepath.Join(dir, "bin", "python"))
	}
	r := examine(t, command())
	if !r.Serves || !strings.Contains(r.Interpreter.Fix, "install numpy, pandas") || r.Limits.DataPreloaded {
		t.Errorf("without libraries: serves %t, %s, interpreter %+v", r.Serves, r.Reason, r.Interpreter)
	}
	site, err := filepath.Glob(filepath.Join(dir, "lib", "python3.*", "site-packages"))
	if err != nil || len(site) != 1 {
		t.Fatalf("site-packages: %v, %v", site, err)
	}
	crash := "import os; os.register_at_fork(after_in_child=os.abort)\n"
	if err := os.WriteFile(filepath.Join(site[0], "crash.pth"), []byte(crash), 0o644); err != nil {
		t.Fatal(err)
	}
	lie{"crashes when forked", "ended without an answer", "another", nil}.test(t, command())
}

// requireNative skips in a container: doctor is lied to by what is around the
// built server.
func requireNative(t *testing.T) {
	t.Helper()
	if inContainer() {
		t.Skip("looks at the built server on this machine; runs natively")
	}
	requireSandbox(t)
}

func TestDoctorNoLandlock(t *testing.T) {
	t.Parallel()
	requireNative(t)
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.ENOSYS} {
		l := lie{errno.Error(), "landlock: " + errno.Error(), "seccomp profile that allows landlock_create_ruleset", func(t *testing.T, r report) {
			if r.Host.LandlockABI != 0 || r.Host.LandlockErr != errno.Error() || r.Interpreter.Version == "" {
				t.Errorf("host %+v, interpreter %+v", r.Host, r.Interpreter)
			}
		}}
		t.Run(l.name, func(t *testing.T) {
			l.test(t, exec.CommandContext(t.Context(), realPython(t), "testdata/doctor/deny_landlock.py",
				strconv.Itoa(int(errno)), binary, "doctor", "--json", "--isolation=landlock"))
		})
	}
}

// Where /proc is not whole other things look wrong; doctor names the cause.
func TestDoctorMaskedProc(t *testing.T) {
	requireNative(t)
	sandboxtest.Require(t, "root")
	for _, mask := range []string{"mount -t tmpfs none /proc", "mount --bind /dev/null /proc/$$/uid_map"} {
		t.Run(mask, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "sh", "-ec", mask+`; exec "$0" doctor --json`, binary)
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			lie{"", "", "mount a whole /proc", func(t *testing.T, r report) {
				if r.Host.ProcErr == "" {
					t.Errorf("host %+v", r.Host)
				}
			}}.test(t, cmd)
		})
	}
}

// An ordinary user of a bare machine is told what the host gives and what to do.
func TestDoctorOrdinaryUser(t *testing.T) {
	t.Parallel()
	if inContainer() {
		t.Skip("looks at the built server on this machine; runs natively")
	}
	sandboxtest.Require(t, "landlock>=1")
	cmd := exec.CommandContext(t.Context(), binary, "doctor", "--json", "--isolation=landlock")
	if os.Geteuid() == 0 {
		if err := os.Chmod(filepath.Dir(binary), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	lie{"", "under one's own uid", "docker run", func(t *testing.T, r report) {
		if r.Host.UID == 0 || r.Host.LandlockABI == 0 || r.Posture.Name != "" {
			t.Errorf("host %+v, posture %+v", r.Host, r.Posture)
		}
	}}.test(t, cmd)
}

// Options of the container that take away what a server needs.
func TestDoctorContainer(t *testing.T) {
	if !inContainer() {
		t.Skip("needs the container: its command line in " + commandEnv)
	}
	for _, tt := range []struct {
		lie
		options []string
	}{
		{lie{"memory", "the container's limit of 67108864 bytes leaves a run", "raise --memory", nil}, []string{"--memory=64m"}},
		{lie{"processes", "the container's limit is 40", "raise --pids-limit", nil}, []string{"--pids-limit=40"}},
		{lie{"read-only /tmp", "writable tmpfs", "--tmpfs /tmp:rw", nil}, []string{"--tmpfs", "/tmp:ro,size=64m"}},
		{lie{"a volume below /tmp", "no mount below", "--tmpfs /tmp:rw", nil}, []string{"--volume", t.TempDir() + ":/tmp/volume"}},
		{lie{"the host's processes", "the pid namespace is the host's", "docker run", nil}, []string{"--pid=host"}},
		{lie{"Landlock EPERM", "landlock: operation not permitted", "seccomp profile", nil}, []string{"--security-opt", "seccomp=" + profile(t, 1)}},
		{lie{"Landlock ENOSYS", "landlock: function not implemented", "seccomp profile", nil}, []string{"--security-opt", "seccomp=" + profile(t, 38)}},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, doctorCommand(t.Context(), tt.options, "--json")) })
	}
	t.Run("a Python without libraries", func(t *testing.T) {
		r := examine(t, doctorCommand(t.Context(), nil, "--json", "--python=/usr/bin/python3"))
		if !r.Serves || !strings.Contains(r.Interpreter.Fix, "install numpy") {
			t.Errorf("serves %t, %+v", r.Serves, r.Interpreter)
		}
	})
	t.Run("another init", func(t *testing.T) {
		if r := examine(t, doctorCommand(t.Context(), []string{"--init"}, "--json")); !r.Serves {
			t.Errorf("%s", r.Reason)
		}
	})
}

// profile allows everything but Landlock.
func profile(t *testing.T, errno int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seccomp.json")
	text := `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["landlock_create_ruleset"],"action":"SCMP_ACT_ERRNO","errnoRet":` + strconv.Itoa(errno) + `}]}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
