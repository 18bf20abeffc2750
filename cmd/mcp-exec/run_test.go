package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func TestRunRequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program.py")
	const code = "# coding: latin-1\r\nx = '\xe9'\n"
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	limits := func(codeBytes int) config {
		return config{limits: sandbox.Limits{DefaultTimeout: 30 * time.Second, MaxTimeout: 40 * time.Second, CodeBytes: codeBytes}}
	}
	for _, tt := range []struct {
		name    string
		timeout string
		limit   int
		want    time.Duration
		err     string
	}{
		{"default", "", 1000, 30 * time.Second, ""},
		{"ceiling", "40", len(code), 40 * time.Second, ""},
		{"above the ceiling", "41", 1000, 0, `--timeout-s="41": want a whole number from 1 to 40`},
		{"zero", "0", 1000, 0, `--timeout-s="0": want`},
		{"one byte too many", "", len(code) - 1, 0, "more than 26 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := run{File: path, Timeout: tt.timeout}.request(limits(tt.limit), nil)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("request = %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || got.Code != code || got.Timeout != tt.want {
				t.Errorf("request = %q, %v, %v, want %q, %v", got.Code, got.Timeout, err, code, tt.want)
			}
		})
	}
}

// The program's input is ours unless the code came from there; with --json what it
// prints is kept.
func TestRunStreams(t *testing.T) {
	for _, tt := range []struct {
		run          run
		input, shown bool
	}{
		{run{File: "x.py"}, true, true},
		{run{File: "-"}, false, true},
		{run{File: "x.py", JSON: true}, true, false},
	} {
		s := tt.run.streams(nil)
		if input := s.Stdin == os.Stdin; input != tt.input || (s.Stdout != nil) != tt.shown || (s.Stderr != nil) != tt.shown {
			t.Errorf("%+v: our stdin %t, stdout %v, stderr %v", tt.run, input, s.Stdout, s.Stderr)
		}
	}
}

func TestStatusOf(t *testing.T) {
	for _, tt := range []struct {
		res  sandbox.Result
		want error
	}{
		{sandbox.Result{}, nil},
		{sandbox.Result{ExitCode: 3}, exitStatus(3)},
		{sandbox.Result{ExitCode: 137}, exitStatus(137)},
		{sandbox.Result{ExitCode: -1, TimedOut: true}, exitStatus(124)},
	} {
		if got := statusOf(tt.res); !errors.Is(got, tt.want) {
			t.Errorf("statusOf(%+v) = %v, want %v", tt.res, got, tt.want)
		}
	}
}

// broken is a writer whose reader has gone, or whose disk is full.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: b.err}
}

func TestOutputFails(t *testing.T) {
	for _, cause := range []syscall.Errno{syscall.EPIPE, syscall.ENOSPC} {
		ctx, end := context.WithCancelCause(context.Background())
		if _, err := (ender{broken{cause}, end}).Write([]byte("x")); !errors.Is(err, cause) {
			t.Errorf("Write = %v, want %v", err, cause)
		}
		var status exitStatus
		silent := errors.As(context.Cause(ctx), &status) && status == 141
		if silent != (cause == syscall.EPIPE) || ctx.Err() == nil {
			t.Errorf("after %v the run ends with %v", cause, context.Cause(ctx))
		}
	}
}
