//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// report is what doctor --json prints, as far as the tests look at it.
type report struct {
	Serves bool
	Reason string
	Fix    string
	Host   struct {
		UID         int    `json:"uid"`
		Release     string `json:"release"`
		Container   bool   `json:"container"`
		ProcErr     string `json:"proc_err"`
		LandlockABI int    `json:"landlock_abi"`
		LandlockErr string `json:"landlock_err"`
	}
	Posture     struct{ Name, Level string }
	Interpreter struct {
		Executable, Version, Fix string
		Packages                 []struct{ Name, Version string }
	}
	Limits *struct {
		MemoryBytes   int64 `json:"memory_bytes"`
		DataPreloaded bool  `json:"data_preloaded"`
		Processes     int
	}
	Protections []struct {
		Name, Status, Reason, Fix string
		Attempts                  []struct {
			Attempt, Detail string
			OK              bool
		}
	}
	Roles []struct {
		Name  string
		Steps []struct {
			Name      string
			Arguments []string
		}
	}
	Messages []string
}

// doctorCommand is the line of the server under test with doctor's arguments
// after it. options go before the image, in a container.
func doctorCommand(ctx context.Context, options []string, arguments ...string) *exec.Cmd {
	arguments = append([]string{"doctor"}, arguments...)
	line := strings.Fields(os.Getenv(commandEnv))
	if len(line) == 0 {
		return exec.CommandContext(ctx, binary, arguments...)
	}
	image := line[len(line)-1]
	line = slices.Concat(line[1:len(line)-1], options, []string{image}, arguments)
	return exec.CommandContext(ctx, strings.Fields(os.Getenv(commandEnv))[0], line...)
}

// examine runs doctor --json. Whatever it finds it prints one object, and its
// status says the same.
func examine(t *testing.T, cmd *exec.Cmd) report {
	t.Helper()
	out, log, status := finish(cmd)
	var r report
	d := json.NewDecoder(strings.NewReader(out))
	if err := d.Decode(&r); err != nil || d.More() {
		t.Fatalf("status %d: not one object: %v\n%s%s", status, err, out, log)
	}
	want := 1
	if r.Serves {
		want = 0
	}
	if status != want || r.Serves != (r.Reason == "") {
		t.Errorf("status %d, serves %t, reason %q", status, r.Serves, r.Reason)
	}
	if r.Host.Release == "" {
		t.Errorf("the host is not described: %+v", r.Host)
	}
	return r
}

func finish(cmd *exec.Cmd) (stdout, stderr string, status int) {
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	_ = cmd.Run() // the status tells
	return out.String(), log.String(), cmd.ProcessState.ExitCode()
}

func (r report) status(t *testing.T, name string) string {
	t.Helper()
	for _, p := range r.Protections {
		if p.Name == name {
			return p.Status
		}
	}
	t.Errorf("protection %q is missing", name)
	return ""
}

// In a sandbox that stands everything is proven, and nothing is left running.
func TestDoctor(t *testing.T) {
	requireSandbox(t)
	before := adopt(t)
	r := examine(t, doctorCommand(t.Context(), nil, "--json"))
	if !r.Serves || r.Posture.Name == "" || r.Posture.Level == "" {
		t.Errorf("serves %t: %s: %s; posture %+v", r.Serves, r.Reason, r.Fix, r.Posture)
	}
	for _, p := range r.Protections {
		if p.Status != "PASS" || len(p.Attempts) == 0 {
			t.Errorf("%s: %+v", p.Name, p)
		}
	}
	for _, name := range []string{"no network", "not root", "no capabilities", "no new privileges", "read-only system",
		"private directory", "environment from nothing", "server can't be signalled", "wall clock", "memory", "CPU",
		"processes", "file size", "open files", "output", "nothing outlives a run"} {
		r.status(t, name)
	}
	if r.Limits == nil || r.Limits.MemoryBytes < 32<<20 || r.Limits.Processes < 8 {
		t.Errorf("limits: %+v", r.Limits)
	}
	if r.Host.Container != inContainer() || len(r.Interpreter.Packages) != 6 || r.Interpreter.Fix != "" {
		t.Errorf("host %+v, interpreter %+v", r.Host, r.Interpreter)
	}
	for _, role := range r.Roles {
		if len(role.Steps) == 0 {
			t.Errorf("no steps of %s", role.Name)
		}
	}
	left := slices.DeleteFunc(children(os.Getpid()), func(pid int) bool { return slices.Contains(before, pid) })
	eventually(t, "a process is left", func() bool { return !anyAlive(left) })
}

// adopt makes this process the parent of every orphan below it, and lists its
// children.
func adopt(t *testing.T) []int {
	t.Helper()
	subreaper := func(on uintptr) {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, on, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	subreaper(1)
	t.Cleanup(func() { subreaper(0) })
	return children(os.Getpid())
}

func TestDoctorText(t *testing.T) {
	t.Parallel()
	requireSandbox(t)
	out, log, status := finish(doctorCommand(t.Context(), nil))
	if status != 0 || log != "" {
		t.Errorf("status %d, stderr %q", status, log)
	}
	for _, want := range []string{" may serve: posture ", "\nHost\n", "\nPosture\n", "\nPython\n", "\nLimits of one run\n",
		"\n  PASS      no network\n", "\nSteps of each worker\n", "seccomp SECCOMP_SET_MODE_FILTER", "RLIMIT_FSIZE"} {
		if !strings.Contains(out, want) {
			t.Errorf("does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "FAIL") || strings.Contains(out, "\x1b") {
		t.Errorf("says FAIL, or has colours:\n%s", out)
	}
}

// A bad setting is one line and status 2, as for serve.
func TestDoctorUsage(t *testing.T) {
	for _, arguments := range [][]string{{"--max-pids=x"}, {"--json", "--transport=tcp"}, {"--nonsense"}, {"extra"}} {
		cmd := exec.CommandContext(t.Context(), binary, append([]string{"doctor"}, arguments...)...)
		out, log, status := finish(cmd)
		if status != 2 || out != "" || strings.Count(log, "\n") != 1 {
			t.Errorf("doctor %v: status %d, stdout %q, stderr %q", arguments, status, out, log)
		}
	}
}

// The smallest limits that may be set can be met as well.
func TestDoctorSmallLimits(t *testing.T) {
	t.Parallel()
	requireSandbox(t)
	for _, arguments := range [][]string{{"--max-pids=1"}, {"--memory-bytes=33554432", "--workspace-bytes=1048576"}} {
		r := examine(t, doctorCommand(t.Context(), nil, append(arguments, "--json")...))
		if !r.Serves {
			t.Errorf("%v: %s", arguments, r.Reason)
		}
	}
}
