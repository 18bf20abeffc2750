package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/mcpserver"
	"github.com/mcp-exec/mcp-exec/internal/pool"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

type serve struct{ flags }

// Run serves until the client is gone or a signal comes.
func (s serve) Run() error {
	c, err := s.check()
	if err != nil {
		return usageError{err}
	}
	if err := hide(); err != nil {
		return err
	}
	// A client that is gone must not end the process before its runs are.
	signal.Ignore(syscall.SIGPIPE)
	// Answers are large and short-lived: fewer collections, at little memory.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(serverMemory)
	if err := pool.EnoughProcesses(idleThreads); err != nil {
		return err
	}
	startThreads()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p, err := pool.New(ctx, pool.Config{
		Isolation: s.Isolation, Python: s.Python, Limits: c.limits,
		Concurrency: c.concurrency, Queue: c.queue, MaskABI: maskedABI(), Log: log,
	})
	if err != nil {
		return err
	}
	defer p.Close()
	server := mcpserver.New(mcpserver.Config{Version: buildVersion(), Log: log}, p)
	go func() { <-p.Done(); stop() }()
	err = server.ServeStdio(ctx, os.Stdin, os.Stdout)
	if ctx.Err() != nil { // asked to stop by a signal, or by a pool that failed
		return p.Err()
	}
	return err
}

// hide keeps the server's memory and environment from every process of its uid.
func hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl PR_SET_DUMPABLE: %w", err)
	}
	return nil
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
