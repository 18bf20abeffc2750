package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/mcp-exec/mcp-exec/internal/mcpserver"
)

// Run serves until the client is gone or a signal comes.
func (s serve) Run() error {
	c, err := s.check()
	if err != nil {
		return usageError{err}
	}
	log := newLog(slog.LevelInfo)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p, err := s.start(ctx, c, log)
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

// Run answers by exit status.
func (h healthcheck) Run() error { return h.check() }
