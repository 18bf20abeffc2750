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
	startThreads()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p, err := pool.New(ctx, pool.Config{
		Isolation: s.Isolation, Python: s.Python, Path: os.Getenv("PATH"), Limits: c.limits,
		Concurrency: c.concurrency, Queue: c.queue, MaskABI: maskedABI(), Log: log,
	})
	if err != nil {
		return err
	}
	defer p.Close()
	server := mcpserver.New(mcpserver.Config{Version: buildVersion(), Log: log}, p)
	if err := server.ServeStdio(ctx, os.Stdin, os.Stdout); ctx.Err() == nil {
		return err
	}
	return nil // asked to stop by a signal
}

// hide keeps the server's memory and environment from every process of its uid.
func hide() error {
	_ = os.Unsetenv("MCP_EXEC_AUTH_TOKEN")
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

// becameInit reports whether this process was the init helper, and failed.
func becameInit() bool {
	if os.Args[0] != sandbox.InitName {
		return false
	}
	if err := sandbox.RunInit(os.Args[1:]); err != nil {
		os.Exit(exitFailed)
	}
	return true
}
