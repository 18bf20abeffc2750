package forkserver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	if os.Args[0] == sandbox.InitName { // re-executed by the fork server under test
		_ = sandbox.RunInit(os.Args[1:])
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// startInNamespaces is a first fork server, with the steps around a reaper's fork.
func startInNamespaces(t *testing.T) (*Process, ReaperSpec) {
	t.Helper()
	sandboxtest.Require(t, "namespaces")
	posture, _, err := sandbox.Choose("namespaces", sandbox.Probe(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	python, err := Inspect(t.Context(), cmp.Or(os.Getenv("MCP_EXEC_PYTHON"), "python3"))
	if err != nil {
		t.Fatal(err)
	}
	spec := sandbox.InitSpec{Posture: posture, Python: python.Executable,
		Root: sandbox.RootEntries(sandbox.ReadList{Dirs: python.Dirs, Files: python.Files})}
	server, err := Start(spec, posture.ServerSteps(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	before, after := posture.ForkSteps()
	return server, ReaperSpec{Before: before, After: after, Enclosed: true}
}

// namespacePIDs is what the process is called in each pid namespace, from ours down.
func namespacePIDs(t *testing.T, pid int) []string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`(?m)^NSpid:\t(.*)$`).FindSubmatch(status)
	if match == nil {
		t.Fatalf("no NSpid of %d", pid)
	}
	pids := strings.Fields(string(match[1]))
	if pids[0] != fmt.Sprint(pid) { // we are below the pid namespace of this /proc
		t.Fatalf("process %d is called %q", pid, pids)
	}
	return pids
}

func newReaper(t *testing.T, server *Process, spec ReaperSpec) *Process {
	t.Helper()
	reaper, err := server.ForkReaper(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reaper.Close)
	return reaper
}

func newServer(t *testing.T, server *Process) *Process {
	t.Helper()
	child, err := server.ForkServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(child.Close)
	return child
}

// Every process is known by the pid that we can signal, whatever it calls itself.
func TestPIDsAreAsWeCount(t *testing.T) {
	server, spec := startInNamespaces(t)
	if got := namespacePIDs(t, server.PID); len(got) != 2 || got[1] != "1" {
		t.Errorf("the first fork server is called %q, want to be the first of one namespace", got)
	}
	reaper := newReaper(t, server, spec)
	if got := namespacePIDs(t, reaper.PID); len(got) != 3 || got[2] != "1" || !reaper.init {
		t.Errorf("a reaper is called %q, init %t, want to be the first of a namespace in that one", got, reaper.init)
	}
	// The steps after the fork have brought the server back.
	child := newServer(t, server)
	if got := namespacePIDs(t, child.PID); len(got) != 2 || got[1] == "1" || child.init {
		t.Errorf("a second fork server is called %q, init %t, want to be one more of the first's namespace", got, child.init)
	}
	if got := namespacePIDs(t, newReaper(t, child, spec).PID); len(got) != 3 || got[2] != "1" {
		t.Errorf("its reaper is called %q, want to be the first of a namespace in that one", got)
	}
}

var refused = sandbox.Step{Name: "no such call", Nr: 1 << 20}

// A step that fails before the fork is told, and harms nothing that comes later.
func TestStepBeforeForkFails(t *testing.T) {
	server, spec := startInNamespaces(t)
	failing := spec
	failing.Before = []sandbox.Step{spec.Before[0], refused}
	_, err := server.ForkReaper(failing)
	var step *sandbox.StepError
	if !errors.As(err, &step) || step.Step != refused.Name || !errors.Is(err, unix.ENOSYS) {
		t.Fatalf("ForkReaper = %v, want failed at %q: ENOSYS", err, refused.Name)
	}
	if got := namespacePIDs(t, newServer(t, server).PID); len(got) != 2 {
		t.Errorf("the next child is called %q: the server was not brought back", got)
	}
	newReaper(t, server, spec)
}

// A server that can't come back would fork into the wrong namespace: it ends.
func TestStepAfterForkFails(t *testing.T) {
	server, spec := startInNamespaces(t)
	server.Watch()
	spec.After = []sandbox.Step{refused}
	if reaper, err := server.ForkReaper(spec); err == nil {
		defer reaper.Close()
	}
	select {
	case _, ok := <-server.Events:
		if ok {
			t.Error("the server goes on")
		}
	case <-time.After(10 * time.Second):
		t.Error("the server goes on")
	}
}

// forkBelow makes one more process in the reaper's pid namespace.
func forkBelow(t *testing.T, reaper *Process) int {
	t.Helper()
	page, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	c, ready, err := reaper.fork(request{Role: "server", Names: []string{"page"}}, page.fd())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return ready.Sender
}

// The end of a pid namespace is sure, whatever its first process is doing, and
// Destroy returns after it.
func TestDestroy(t *testing.T) {
	server, spec := startInNamespaces(t)
	for name, state := range map[string]unix.Signal{"running": 0, "stopped": unix.SIGSTOP, "dead": unix.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			reaper := newReaper(t, server, spec)
			child := forkBelow(t, reaper)
			if got := namespacePIDs(t, child); len(got) != 3 {
				t.Fatalf("the child is called %q, want one more of the reaper's namespace", got)
			}
			if err := unix.Kill(reaper.PID, state); err != nil {
				t.Fatal(err)
			}
			for range 2 { // a second time it is no failure
				if err := reaper.Destroy(10 * time.Second); err != nil {
					t.Errorf("Destroy: %v", err)
				}
			}
			if err := unix.Kill(child, 0); !errors.Is(err, unix.ESRCH) {
				t.Errorf("the child is still there: %v", err)
			}
		})
	}
}

func TestDestroyRefusesWhatIsNotFirst(t *testing.T) {
	server, _ := startInNamespaces(t)
	child := newServer(t, server)
	if err := child.Destroy(time.Second); err == nil {
		t.Error("Destroy of a fork server reports that it has ended a pid namespace")
	}
	if err := unix.Kill(child.PID, 0); err != nil {
		t.Errorf("the fork server has been killed: %v", err)
	}
}

// A fork server is closed by whoever sees first that it has to end, often by two.
func TestCloseTwice(t *testing.T) {
	server, spec := startInNamespaces(t)
	for _, p := range []*Process{newServer(t, server), newReaper(t, server, spec)} {
		var calls sync.WaitGroup
		for range 2 {
			calls.Go(p.Close)
		}
		calls.Wait()
	}
}

// Processes that come and go leave no descriptors behind.
func TestNoDescriptorsAreLeft(t *testing.T) {
	server, spec := startInNamespaces(t)
	once := func() {
		reaper, err := server.ForkReaper(spec)
		if err != nil {
			t.Fatal(err)
		}
		reaper.Close()
		for range reaper.Events { // until the reading has ended too
		}
	}
	once()
	before := openDescriptors(t)
	for range 5 {
		once()
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestNamed(t *testing.T) {
	step := &sandbox.StepError{Step: "setns", Err: unix.EPERM}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{step, "setns: operation not permitted"},
		{io.EOF, "reaper: it ended without an answer; see its messages in the log"},
		{os.ErrDeadlineExceeded, "reaper: no answer in time"},
		{unix.EPIPE, "reaper: broken pipe"},
	} {
		if got := named("reaper", tt.err); got == nil || got.Error() != tt.want {
			t.Errorf("named(%v) = %v, want %s", tt.err, got, tt.want)
		}
	}
	if got := named("reaper", nil); got != nil {
		t.Errorf("named(nil) = %v", got)
	}
}
