package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/mcp-exec/mcp-exec/internal/pool"
)

// Run prints the report. The exit status says whether serve would start.
func (d doctor) Run() error {
	c, err := d.check()
	if err != nil {
		return usageError{err}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	report := pool.Diagnose(ctx, d.pool(c, nil), steady)
	report.Version = buildVersion()
	if err := d.print(os.Stdout, report); err != nil {
		return err
	}
	if !report.Serves {
		return exitStatus(exitFailed) // the report has said why
	}
	return nil
}

func (d doctor) print(w io.Writer, report *pool.Report) error {
	if !d.JSON {
		return report.Write(w)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(report)
}
