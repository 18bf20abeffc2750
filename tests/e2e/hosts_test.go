//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// A host is what the server finds in its container, and here it is the options of
// docker run that make it so. A seccomp profile plays the kernels not at hand.

// healthy is a host as Docker's newest release makes it.
func healthy(t *testing.T) []string {
	t.Helper()
	return []string{"--security-opt", "seccomp=" + profileFile(t, seccomp.DefaultProfile())}
}

// noLandlock is a host that answers Landlock's calls with errno.
func noLandlock(t *testing.T, errno unix.Errno) []string {
	t.Helper()
	p := seccomp.DefaultProfile()
	denyLandlock(p, errno)
	return []string{"--security-opt", "seccomp=" + profileFile(t, p)}
}

func denyLandlock(p *seccomp.Seccomp, errno unix.Errno) {
	rule(p, specs.ActErrno, errno, "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
}

// wholeProc: for a proc of its own the container's must be whole, since the kernel gives
// none to a user namespace that sees parts of proc covered, as Docker does.
var wholeProc = []string{"--security-opt", "systempaths=unconfined"}

// withNamespaces is a host on which an unprivileged program may make any namespace.
func withNamespaces(t *testing.T, changes ...func(*seccomp.Seccomp)) []string {
	t.Helper()
	p := seccomp.DefaultProfile()
	rule(p, specs.ActAllow, 0, "clone", "clone3", "unshare", "setns", "mount", "umount2", "pivot_root",
		"move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "mount_setattr")
	for _, change := range changes {
		change(p)
	}
	return []string{"--security-opt", "seccomp=" + profileFile(t, p)}
}

// rule takes the calls out of all rules of the profile and gives them one.
func rule(p *seccomp.Seccomp, action specs.LinuxSeccompAction, errno unix.Errno, calls ...string) {
	for _, r := range p.Syscalls {
		r.Names = slices.DeleteFunc(r.Names, func(name string) bool { return slices.Contains(calls, name) })
	}
	p.Syscalls = slices.DeleteFunc(p.Syscalls, func(r *seccomp.Syscall) bool { return len(r.Names) == 0 })
	r := specs.LinuxSyscall{Names: calls, Action: action}
	if action == specs.ActErrno {
		number := uint(errno)
		r.ErrnoRet = &number
	}
	p.Syscalls = append(p.Syscalls, &seccomp.Syscall{LinuxSyscall: r})
}

// profileFile is the profile as docker run reads it.
func profileFile(t *testing.T, p *seccomp.Seccomp) string {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "profile.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// onHost puts the options before the image, for every server of this test. It
// changes the command for the whole process, so the test can't be parallel.
func onHost(t *testing.T, options ...string) {
	t.Helper()
	line := strings.Fields(os.Getenv(commandEnv))
	if len(line) < 3 || filepath.Base(line[0]) != "docker" {
		t.Skipf("needs a docker run line in %s", commandEnv)
	}
	t.Setenv(commandEnv, strings.Join(slices.Insert(line, len(line)-1, options...), " "))
}

// given is what probe.py finds.
type given struct{ Landlock, Userns, Proc string }

// probe proves that the host is what it is meant to be: without that, a server
// that starts on it, or refuses to, shows nothing.
func probe(t *testing.T) given {
	t.Helper()
	program, err := os.ReadFile("testdata/profiles/probe.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := command()
	image := len(cmd.Args) - 1
	cmd.Args = slices.Insert(cmd.Args, image, "--entrypoint", "/opt/mcp-exec/python/bin/python3")
	cmd.Args = append(cmd.Args, "-c", string(program))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("probe: %v\n%s", err, stderr.String())
	}
	var g given
	if err := json.Unmarshal(out, &g); err != nil {
		t.Fatalf("probe: %v in %s", err, out)
	}
	return g
}

func wantHost(t *testing.T, want given) {
	t.Helper()
	if diff := cmp.Diff(want, probe(t)); diff != "" {
		t.Fatalf("the host is not what it should be (-want +got):\n%s", diff)
	}
}

// TestHostHealthy is the control of the others: the profile that they change
// keeps the server from nothing.
func TestHostHealthy(t *testing.T) {
	onHost(t, healthy(t)...)
	wantHost(t, given{Landlock: "", Userns: "EPERM", Proc: "EPERM"})
	serves(t, "posture=landlock")
}

// TestHostWithNamespaces: where they are allowed they are taken, as root too; half of what
// they need is no reason not to serve.
func TestHostWithNamespaces(t *testing.T) {
	full := append(withNamespaces(t), wholeProc...)
	for name, options := range map[string][]string{"user": full, "root": append(full, "--user", "0:0", "--cap-add", "CHOWN", "--cap-add", "DAC_OVERRIDE", "--cap-add", "FOWNER",
		"--cap-add", "KILL", "--cap-add", "SETGID", "--cap-add", "SETUID")} {
		t.Run(name, func(t *testing.T) {
			onHost(t, options...)
			serves(t, "posture=namespaces")
		})
	}
	t.Run("covered proc", func(t *testing.T) {
		onHost(t, withNamespaces(t)...)
		wantHost(t, given{Landlock: "", Userns: "", Proc: "EPERM"})
		serves(t, "mount proc: operation not permitted", "posture=landlock")
	})
	t.Run("no Landlock", func(t *testing.T) {
		options := withNamespaces(t, func(p *seccomp.Seccomp) { denyLandlock(p, unix.EPERM) })
		onHost(t, append(options, wholeProc...)...)
		wantHost(t, given{Landlock: "EPERM"})
		serves(t, "posture=namespaces", "without Landlock")
	})
}

// TestHostWithoutLandlock: the server says so, and what to do, and ends.
func TestHostWithoutLandlock(t *testing.T) {
	for name, errno := range map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS} {
		t.Run(name, func(t *testing.T) {
			onHost(t, noLandlock(t, errno)...)
			wantHost(t, given{Landlock: name, Userns: "EPERM", Proc: "EPERM"})
			refuses(t, "namespaces: start init in new namespaces", "landlock: ", errno.Error(), "landlock_create_ruleset", "seccomp profile")
		})
	}
}

// serves runs a program, and wants the parts in the log, one after the other.
func serves(t *testing.T, parts ...string) {
	t.Helper()
	s := start(t)
	if r := s.run("import numpy; print(6 * 7)"); r.Stdout != "42\n" || r.ExitCode != 0 {
		t.Errorf("got %+v, want 42", r)
	}
	log := s.log.String()
	for _, part := range parts {
		_, after, found := strings.Cut(log, part)
		if !found {
			t.Errorf("the log does not hold %q in its place:\n%s", part, s.log)
		}
		log = after
	}
}

// refuses wants a server that ends at once with status 1, nothing on stdout, and
// the parts in what it says.
func refuses(t *testing.T, parts ...string) {
	t.Helper()
	refusesWith(t, 1, parts...)
}

func refusesWith(t *testing.T, want int, parts ...string) {
	t.Helper()
	cmd := command()
	stdin, err := cmd.StdinPipe() // left open: an end of input would end a server too
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(hang, func() { stdin.Close() })
	_ = cmd.Wait() // the status tells
	if !late.Stop() {
		t.Errorf("it serves instead of refusing")
	}
	if status := cmd.ProcessState.ExitCode(); status != want || stdout.Len() > 0 {
		t.Errorf("exit status %d, stdout %q; want %d, nothing", status, &stdout, want)
	}
	for _, part := range parts {
		if !strings.Contains(stderr.String(), part) {
			t.Errorf("stderr does not say %q:\n%s", part, &stderr)
		}
	}
}
