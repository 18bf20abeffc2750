package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func TestEOFCancelsRuns(t *testing.T) {
	started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	w := dialReady(t, sleeper(started, ended))
	w.send(toolCall("1", `{"code":"x"}`))
	await(t, "the run", started)
	w.in.Close()
	await(t, "the end of the run", ended)
	if rest, err := w.ends(exitTime / 2); err != nil || rest != "" {
		t.Errorf("ServeStdio: %v, wrote %q", err, rest)
	}
}

func TestContextEndCancelsRuns(t *testing.T) {
	started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	w := dialReady(t, sleeper(started, ended))
	w.send(toolCall("1", `{"code":"x"}`))
	await(t, "the run", started)
	w.cancel()
	await(t, "the end of the run", ended)
	if rest, err := w.ends(exitTime / 2); !errors.Is(err, context.Canceled) || rest != "" {
		t.Errorf("ServeStdio: %v, wrote %q", err, rest)
	}
}

// printf '...' | mcp-exec: what takes no time is answered although the input
// ends in the same moment.
func TestEOFRightAfterRequests(t *testing.T) {
	input := hello + `
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
nonsense
{"jsonrpc":"2.0","id":3,"method":"ping"}`
	for range 20 {
		var out bytes.Buffer
		if err := New(Config{}, echo()).ServeStdio(t.Context(), strings.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"id":"init","result"`, `"id":2,"result"`, `"id":null,"error":{"code":-32700`, `"id":3,"result":{}`} {
			if !strings.Contains(out.String(), want) {
				t.Fatalf("no %s in %s", want, out.String())
			}
		}
		if n := strings.Count(out.String(), "\n"); n != 4 {
			t.Fatalf("%d lines, want 4: %s", n, out.String())
		}
	}
}

func TestEmptyInput(t *testing.T) {
	var out bytes.Buffer
	if err := New(Config{}, echo()).ServeStdio(t.Context(), strings.NewReader(""), &out); err != nil || out.Len() > 0 {
		t.Errorf("ServeStdio: %v, wrote %q", err, out.String())
	}
}

// A client that has stopped reading does not delay the end of its runs.
func TestEOFWhileOutputIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
		in, feed := io.Pipe()
		outR, out := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- New(Config{}, sleeper(started, ended)).ServeStdio(t.Context(), in, out) }()
		io.WriteString(feed, hello+"\n")
		outR.Read(make([]byte, 4096))
		io.WriteString(feed, toolCall("1", `{"code":"x"}`)+"\n")
		<-started
		io.WriteString(feed, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
		synctest.Wait()
		begin := time.Now()
		feed.Close()
		<-ended
		if took := time.Since(begin); took > 0 {
			t.Errorf("the run ended after %v", took)
		}
		if err := <-done; err != nil || time.Since(begin) > exitTime {
			t.Errorf("ServeStdio: %v after %v", err, time.Since(begin))
		}
		outR.Close()
	})
}

// A runner that ignores its context does not keep the process.
func TestEOFDoesNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newFake(func(context.Context, sandbox.Request) (sandbox.Result, error) {
			<-release
			return sandbox.Result{}, nil
		})
		var log bytes.Buffer
		s := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, r)
		input := hello + "\n" + toolCall("2", `{"code":"x"}`)
		in, feed := io.Pipe()
		var out bytes.Buffer
		begin := time.Now()
		go func() {
			io.WriteString(feed, input)
			feed.Close()
		}()
		if err := s.ServeStdio(t.Context(), in, &out); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > exitTime {
			t.Errorf("took %v, want at most %v", took, exitTime)
		}
		close(release)
		synctest.Wait()
	})
}

// deadWriter is a client that reads nothing any more.
type deadWriter struct{ err error }

func (d deadWriter) Write([]byte) (int, error) { return 0, d.err }

func TestBrokenOutputEndsServer(t *testing.T) {
	broken := errors.New("broken pipe")
	in, feed := io.Pipe()
	defer feed.Close()
	done := make(chan error, 1)
	go func() { done <- New(Config{}, echo()).ServeStdio(t.Context(), in, deadWriter{broken}) }()
	io.WriteString(feed, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	select {
	case err := <-done:
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "write stdout: ") {
			t.Errorf("ServeStdio: %v, want write stdout: broken pipe", err)
		}
	case <-time.After(patience):
		t.Error("ServeStdio goes on without output")
	}
}

func TestBrokenInput(t *testing.T) {
	broken := errors.New("input/output error")
	in := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"), errReader{broken})
	var out bytes.Buffer
	err := New(Config{}, echo()).ServeStdio(t.Context(), in, &out)
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "read stdin: ") {
		t.Errorf("ServeStdio: %v, want read stdin: input/output error", err)
	}
	if want := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }
