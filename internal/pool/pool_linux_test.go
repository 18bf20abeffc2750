package pool

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
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

// inPostures runs a test in a pool of each posture that this machine must give.
func inPostures(t *testing.T, change func(*Config), test func(*testing.T, *Pool)) {
	t.Helper()
	for _, isolation := range []string{"namespaces", "landlock"} {
		t.Run(isolation, func(t *testing.T) {
			test(t, newTestPool(t, isolation, change))
		})
	}
}

func newTestPool(t *testing.T, isolation string, change func(*Config)) *Pool {
	t.Helper()
	needs := map[string][]string{"namespaces": {"namespaces", "python"}, "landlock": {"root", "landlock>=1", "python"}}
	sandboxtest.Require(t, needs[isolation]...)
	c := testConfig(t, isolation)
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

func testConfig(t *testing.T, isolation string) Config {
	return Config{Isolation: isolation, Python: os.Getenv("MCP_EXEC_PYTHON"), Concurrency: 1, Queue: 64,
		Log: slog.New(slog.NewTextHandler(testLog{t}, nil)),
		Limits: sandbox.Limits{DefaultTimeout: 30 * time.Second, MaxTimeout: 300 * time.Second, OutputBytes: 1 << 20,
			StdinBytes: 1 << 20, CodeBytes: 1 << 20, MemoryBytes: 256 << 20, Processes: 64, WorkspaceBytes: 64 << 20}}
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
	inPostures(t, nil, func(t *testing.T, p *Pool) {
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
	})
}

func TestDataRests(t *testing.T) {
	inPostures(t, nil, func(t *testing.T, p *Pool) {
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
	})
}

func TestQueueIsBounded(t *testing.T) {
	inPostures(t, func(c *Config) { c.Queue = 1 }, func(t *testing.T, p *Pool) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		first := begin(ctx, p)
		waitFor(t, func() bool { return p.active.Load() == 1 })
		second := begin(ctx, p)
		waitFor(t, func() bool { return p.calls.Load() == 2 })
		isBusy(t, p)
		cancel()
		for _, done := range []chan error{first, second} {
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled call = %v", err)
			}
		}
		if got := call(t, p, "print(1)"); got.Stdout != "1\n" {
			t.Errorf("a call after the cancelled ones = %+v", got)
		}
	})
}

// begin starts a run that does not end by itself.
func begin(ctx context.Context, p *Pool) chan error {
	done := make(chan error, 1)
	go func() {
		_, err := p.Run(ctx, sandbox.Request{Code: "import time\ntime.sleep(60)", Timeout: 60 * time.Second})
		done <- err
	}()
	return done
}

func isBusy(t *testing.T, p *Pool) {
	t.Helper()
	if _, err := p.Run(context.Background(), sandbox.Request{Code: "1", Timeout: time.Second}); !errors.Is(err, sandbox.ErrBusy) {
		t.Errorf("a call beyond the queue = %v, want %v", err, sandbox.ErrBusy)
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

// A posture that shares what runs could meet in takes one at a time.
func TestConcurrencyIsRefused(t *testing.T) {
	sandboxtest.Require(t, "root", "landlock>=1", "python")
	c := testConfig(t, "landlock")
	c.Concurrency = 2
	_, err := New(context.Background(), c)
	var setting *sandbox.SettingError
	if !errors.As(err, &setting) || setting.Variable != "MCP_EXEC_CONCURRENCY" || !strings.Contains(err.Error(), "posture landlock") {
		t.Errorf("New with concurrency 2: %v", err)
	}
}

// A socket among the modules would be a way out of namespaces.
func TestSocketAmongModulesIsRefused(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	interpreter := forkserver.Interpreter{Dirs: []string{dir}}
	for _, namespaces := range []bool{true, false} {
		err := fits(Config{Concurrency: 1}, sandbox.Posture{Namespaces: namespaces}, interpreter)
		if (err != nil) != namespaces {
			t.Errorf("namespaces %t: %v", namespaces, err)
		}
	}
}

// An interpreter that a program's own uid can't reach is refused, with a remedy.
func TestUnreachablePythonIsRefused(t *testing.T) {
	sandboxtest.Require(t, "root")
	private := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(private, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	interpreter := forkserver.Interpreter{Executable: private, Files: []string{private}}
	for _, own := range []bool{true, false} {
		err := fits(Config{Concurrency: 1}, sandbox.Posture{Name: "namespaces", Namespaces: true, OwnUID: own}, interpreter)
		if (err != nil) != own {
			t.Errorf("with uids of its own: %t: %v", own, err)
		}
	}
}
