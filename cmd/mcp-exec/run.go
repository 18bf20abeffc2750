package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/mcpserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// run is one program, from the shell.
type run struct {
	flags
	Timeout string `name:"timeout-s" env:"-" help:"Wall-clock limit in seconds for this program." placeholder:"N"`
	JSON    bool   `name:"json" env:"-" help:"Print one JSON object as exec returns it, when the program has ended."`
	File    string `arg:"" help:"Python source; - is standard input, and the program's own is then empty."`
}

// Help is shown by run --help.
func (run) Help() string {
	return "The program's standard input, output, error and exit status are those of this command. " +
		"It exits 128+N when signal N ended the program, 124 when the time limit did, " +
		"1 when the sandbox can't be built, 2 for a bad setting or source."
}

// request is the program with its limits; end is called when its output can't be
// written any more.
func (r run) request(c config, end context.CancelCauseFunc) (sandbox.Request, error) {
	timeout, err := r.timeout(c)
	if err != nil {
		return sandbox.Request{}, err
	}
	code, err := r.source(c.limits.CodeBytes)
	if err != nil {
		return sandbox.Request{}, err
	}
	return sandbox.Request{Code: code, Timeout: timeout, Streams: r.streams(end)}, nil
}

func (r run) timeout(c config) (time.Duration, error) {
	limit := c.limits.DefaultTimeout
	if r.Timeout == "" {
		return limit, nil
	}
	most := int64(c.limits.MaxTimeout / time.Second)
	s := setting{"--timeout-s", r.Timeout, 1, most, func(n int64) { limit = time.Duration(n) * time.Second }}
	if err := s.parse(); err != nil {
		return 0, fmt.Errorf("%w (MCP_EXEC_MAX_TIMEOUT_S)", err)
	}
	return limit, nil
}

// source is the code as it is: Python knows what to make of its bytes.
func (r run) source(limit int) (string, error) {
	file, err := r.open()
	if err != nil {
		return "", err
	}
	defer file.Close()
	code, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("code: %w", err)
	case len(code) > limit:
		return "", fmt.Errorf("code %s: more than %d bytes, the limit (MCP_EXEC_MAX_CODE_BYTES)", r.File, limit)
	case len(bytes.TrimSpace(code)) == 0:
		return "", fmt.Errorf("code %s is empty: want Python source", r.File)
	}
	return string(code), nil
}

func (r run) open() (io.ReadCloser, error) {
	if r.File == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	file, err := os.Open(r.File)
	if err != nil {
		return nil, fmt.Errorf("code: %w", err)
	}
	return file, nil
}

func (r run) streams(end context.CancelCauseFunc) *sandbox.Streams {
	s := &sandbox.Streams{Stdin: strings.NewReader("")}
	if r.File != "-" {
		s.Stdin = os.Stdin
	}
	if !r.JSON {
		s.Stdout, s.Stderr = ender{os.Stdout, end}, ender{os.Stderr, end}
	}
	return s
}

// print writes what streams have not shown.
func (r run) print(res sandbox.Result) error {
	if !r.JSON {
		if res.TimedOut {
			fmt.Fprintln(os.Stderr, "mcp-exec: note: timed out after", res.Duration.Truncate(time.Second))
		}
		if res.Note != "" {
			fmt.Fprintln(os.Stderr, "mcp-exec: note:", res.Note)
		}
		return nil
	}
	body, err := mcpserver.ResultJSON(res)
	if err != nil {
		return err
	}
	if _, err := os.Stdout.Write(append(body, '\n')); err != nil {
		return ended(err)
	}
	return nil
}

// statusOf is the exit status of a command whose program ended so.
func statusOf(res sandbox.Result) error {
	switch {
	case res.TimedOut:
		return exitStatus(exitTimeUp)
	case res.ExitCode != 0:
		return exitStatus(res.ExitCode)
	}
	return nil
}

// ended is what this command ends with when its output can't be written. Nobody
// needs to be told of a reader that has gone: `mcp-exec run x.py | head -1`.
func ended(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return exitStatus(exitSignal + syscall.SIGPIPE)
	}
	return fmt.Errorf("output: %w", err)
}

// ender is a writer whose failure ends the run.
type ender struct {
	io.Writer
	end context.CancelCauseFunc
}

func (e ender) Write(p []byte) (int, error) {
	n, err := e.Writer.Write(p)
	if err != nil {
		e.end(ended(err))
	}
	return n, err
}
