package pool

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// stuck is a reader and writer that never comes back, as a pipe whose other end
// does nothing.
type stuck struct{}

func (stuck) Read([]byte) (int, error)  { select {} }
func (stuck) Write([]byte) (int, error) { select {} }

// What is behind a stream may never come back: the run ends all the same, and the
// slot is free for the next one.
func TestStuckStreams(t *testing.T) {
	p := newTestPool(t, "namespaces", nil)
	streams := &sandbox.Streams{Stdin: stuck{}, Stdout: stuck{}, Stderr: stuck{}}
	for _, tt := range []struct {
		name, code string
	}{
		{"a program without end", "while True:\n    print('x')"},
		{"a program that has ended", "print('x')"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begin := time.Now()
			res, err := p.Run(t.Context(), sandbox.Request{Code: tt.code, Timeout: time.Second, Streams: streams})
			if took := time.Since(begin); err != nil || !res.TimedOut || res.ExitCode != -1 || took > 20*time.Second {
				t.Errorf("Run = %+v, %v after %v, want the time limit", res, err, took)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Run(ctx, sandbox.Request{Code: "print('x')", Timeout: time.Minute, Streams: streams})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run = %v, want %v", err, context.DeadlineExceeded)
		}
	})
	if got := call(t, p, "print(1)"); got.Stdout != "1\n" {
		t.Errorf("a call after them = %+v", got)
	}
}

// A stream that is nil is as in a call, and the note knows of what was passed on.
func TestSomeStreams(t *testing.T) {
	p := newTestPool(t, "namespaces", nil)
	var stderr strings.Builder
	res, err := p.Run(t.Context(), sandbox.Request{Code: "import sys\nprint(input(), file=sys.stderr)", Timeout: time.Minute, Stdin: "line\n",
		Streams: &sandbox.Streams{Stderr: &stderr}})
	if err != nil || res.Stdout != "" || res.Stderr != "" || res.Note != "" || stderr.String() != "line\n" {
		t.Errorf("Run = %+v, %v, passed on %q", res, err, &stderr)
	}
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, "a\nb\n") }() // and then no end
	res, err = p.Run(t.Context(), sandbox.Request{Code: "print(input() + input())", Timeout: time.Minute, Streams: &sandbox.Streams{Stdin: r}})
	if err != nil || res.Stdout != "ab\n" {
		t.Errorf("Run = %+v, %v", res, err)
	}
}
