package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"

	"github.com/mcp-exec/mcp-exec/internal/pool"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func newLog(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// start builds the sandbox of hostile programs.
func (f flags) start(ctx context.Context, c config, log *slog.Logger) (*pool.Pool, error) {
	if err := steady(log); err != nil {
		return nil, err
	}
	return pool.New(ctx, f.pool(c, log))
}

// steady makes this process fit to stand beside hostile programs.
func steady(log *slog.Logger) error {
	warnUnknown(log, os.Environ())
	// A client that is gone must not end the process before its runs are.
	signal.Ignore(syscall.SIGPIPE)
	// Answers are large and short-lived: fewer collections, at little memory.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(serverMemory)
	if err := pool.EnoughProcesses(idleThreads); err != nil {
		return err
	}
	startThreads()
	return nil
}

func (f flags) pool(c config, log *slog.Logger) pool.Config {
	return pool.Config{
		Isolation: f.Isolation, Python: f.Python, Limits: c.limits,
		Concurrency: c.concurrency, Queue: c.queue, MaskABI: maskedABI(), Log: log,
	}
}

// maskedABI hides newer Landlock rights, for tests of what old kernels give.
func maskedABI() int {
	n, _ := strconv.Atoi(os.Getenv("MCP_EXEC_TEST_LANDLOCK_ABI"))
	return n
}

// serverMemory is where collections become frequent all the same, bytes: the
// server's share of a small container. A request of several MiB passes it for a moment.
const serverMemory = 40 << 20

// idleThreads is how many threads the server holds ready: a Go program that
// needs a new one while a run has taken all processes of the container dies.
const idleThreads = 40

func startThreads() {
	var started, release sync.WaitGroup
	started.Add(idleThreads)
	release.Add(1)
	for range idleThreads {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			started.Done()
			release.Wait()
		}()
	}
	started.Wait()
	release.Done()
}

// becomeInit is all that the re-executed binary does. It does not return.
func becomeInit() {
	_ = sandbox.RunInit(os.Args[1:]) // only on failure, which it has reported
	os.Exit(exitFailed)
}
