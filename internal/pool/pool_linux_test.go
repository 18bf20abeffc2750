package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	if os.Args[0] == sandbox.InitName { // re-executed by the pool under test
		_ = sandbox.RunInit(os.Args[1:])
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func newTestPool(t *testing.T, change func(*Config)) *Pool {
	t.Helper()
	sandboxtest.Require(t, "root", "landlock>=1", "python")
	c := Config{Isolation: "auto", Python: os.Getenv("MCP_EXEC_PYTHON"), Concurrency: 1, Queue: 64,
		Log: slog.New(slog.NewTextHandler(testLog{t}, nil)),
		Limits: sandbox.Limits{DefaultTimeout: 30 * time.Second, MaxTimeout: 300 * time.Second, OutputBytes: 1 << 20,
			StdinBytes: 1 << 20, CodeBytes: 1 << 20, MemoryBytes: 256 << 20, Processes: 64, WorkspaceBytes: 64 << 20}}
	if change != nil {
		change(&c)
	}
	p, err := New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// testLog writes to the test's log until the test has ended.
type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

func call(t *testing.T, p *Pool, code string) sandbox.Result {
	t.Helper()
	res, err := p.Run(context.Background(), sandbox.Request{Code: code, Timeout: 30 * time.Second})
	if err != nil {
		t.Errorf("Run(%q): %v", code, err)
	}
	return res
}

// Fork servers are replaced while calls come in: none fails, and both levels
// come back.
func TestRenew(t *testing.T) {
	p := newTestPool(t, nil)
	var calls sync.WaitGroup
	calls.Go(func() {
		for range 40 {
			if got := call(t, p, "print(6 * 7)"); got.Stdout != "42\n" {
				t.Errorf("a call beside the replacement = %+v", got)
			}
		}
	})
	for range 3 {
		p.replace()
	}
	calls.Wait()
	if got := call(t, p, "import numpy\nprint(numpy.arange(3).sum())"); got.Stdout != "3\n" {
		t.Errorf("numpy after the replacement = %+v", got)
	}
}

func TestDataRests(t *testing.T) {
	p := newTestPool(t, nil)
	const code = "import sys\nprint('numpy' in sys.modules)\nimport numpy"
	if got := call(t, p, code); got.Stdout != "True\n" {
		t.Fatalf("numpy preloaded = %+v", got)
	}
	p.data.rest(0)
	select {
	case s := <-p.data.ready:
		s.returned <- func() {}
		t.Error("the level still has a ready worker after its rest")
	case <-time.After(time.Second):
	}
	if got := call(t, p, code); got.Stdout != "True\n" {
		t.Errorf("numpy preloaded after the rest = %+v", got)
	}
}

func TestQueueIsBounded(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.Queue = 1 })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const long = "import time\ntime.sleep(60)"
	first, second := make(chan error, 1), make(chan error, 1)
	begin := func(done chan error) {
		_, err := p.Run(ctx, sandbox.Request{Code: long, Timeout: 60 * time.Second})
		done <- err
	}
	go begin(first)
	waitFor(t, func() bool { return p.active.Load() == 1 })
	go begin(second)
	waitFor(t, func() bool { return p.calls.Load() == 2 })
	if _, err := p.Run(context.Background(), sandbox.Request{Code: "1", Timeout: time.Second}); !errors.Is(err, sandbox.ErrBusy) {
		t.Errorf("a third call = %v, want %v", err, sandbox.ErrBusy)
	}
	cancel()
	for _, done := range []chan error{first, second} {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call = %v", err)
		}
	}
	if got := call(t, p, "print(1)"); got.Stdout != "1\n" {
		t.Errorf("a call after the cancelled ones = %+v", got)
	}
}

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to that")
		}
	}
}

// A reaper that does not answer is no reason to leave a run alive.
func TestLastResort(t *testing.T) {
	p := newTestPool(t, nil)
	s := <-p.base.ready
	if err := syscall.Kill(s.reaper.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	res, err := s.execute(context.Background(), sandbox.Request{Code: "import time\nprint('x')\ntime.sleep(60)", Timeout: time.Second}, 100)
	if err != nil || !res.TimedOut || res.Stdout != "x\n" {
		t.Errorf("a run under a stopped reaper = %+v, %v", res, err)
	}
	if left := processesOf(p.posture.FirstUID + s.number); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	s.returned <- func() {}
	for range 4 {
		if got := call(t, p, "print(1)"); got.Stdout != "1\n" {
			t.Errorf("a call after the last resort = %+v", got)
		}
	}
}

func TestConcurrencyIsRefused(t *testing.T) {
	sandboxtest.Require(t, "root", "landlock>=1")
	_, err := New(context.Background(), Config{Isolation: "auto", Python: "python3", Concurrency: 2,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err == nil || !strings.Contains(err.Error(), "concurrency 2") {
		t.Errorf("New with concurrency 2: %v", err)
	}
}

// What the self-test tries is possible outside: a self-test that could not fail
// would prove nothing.
func TestSelfTestBites(t *testing.T) {
	sandboxtest.Require(t, "root", "python")
	cmd := exec.Command(os.Getenv("MCP_EXEC_PYTHON"), "-c", selfTestCode)
	cmd.Stdin = strings.NewReader(fmt.Sprintf("%d true", os.Getpid()))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"running as root", "capabilities", "a bounding set", "new privileges", "setuid(0)",
		"AF_INET:", "AF_UNIX:", "the server's environ", "the server's mem", "the server's descriptors", "a signal to the server",
		"new limits for the server", "ptrace", "write to /usr", "write to /etc", "read of /etc/shadow", "read of /root"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("outside a sandbox the self-test does not report %q:\n%s", want, out)
		}
	}
}
