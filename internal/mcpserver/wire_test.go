package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// hello is the handshake's first line.
const hello = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// wire is a client that sends and sees raw lines.
type wire struct {
	t      *testing.T
	in     *io.PipeWriter
	lines  chan string
	done   chan error
	cancel context.CancelFunc
}

// dial starts a server on pipes. The test's end ends it.
func dial(t *testing.T, s *Server) *wire {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	w := &wire{t: t, in: inW, lines: make(chan string, 1000), done: make(chan error, 1), cancel: cancel}
	go func() {
		w.done <- s.ServeStdio(ctx, inR, outW)
		outW.Close()
	}()
	go func() {
		defer close(w.lines)
		scan := bufio.NewScanner(outR)
		scan.Buffer(nil, 64<<20)
		for scan.Scan() {
			w.lines <- scan.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		for range w.lines {
		}
	})
	return w
}

// dialReady is dial with the handshake done.
func dialReady(t *testing.T, r Runner) *wire {
	t.Helper()
	w := dial(t, New(Config{Version: "test"}, r))
	w.send(hello)
	w.read()
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatalf("send: %v", err)
	}
}

func (w *wire) read() string {
	w.t.Helper()
	select {
	case line, ok := <-w.lines:
		if !ok {
			w.t.Fatal("the server closed its output")
		}
		return line
	case <-time.After(patience):
		w.t.Fatal("no answer")
	}
	return ""
}

func (w *wire) want(line string) {
	w.t.Helper()
	if got := w.read(); got != line {
		w.t.Errorf("answer %s\nwant   %s", got, line)
	}
}

// alive shows that the server works and that nothing else was in its output.
func (w *wire) alive() {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"alive","method":"ping"}`)
	w.want(`{"jsonrpc":"2.0","id":"alive","result":{}}`)
}

// ends waits for ServeStdio and returns its error and what it still wrote.
func (w *wire) ends(within time.Duration) (string, error) {
	w.t.Helper()
	select {
	case err := <-w.done:
		var rest []string
		for line := range w.lines {
			rest = append(rest, line)
		}
		return strings.Join(rest, "\n"), err
	case <-time.After(within):
		w.t.Fatalf("ServeStdio still there after %v", within)
	}
	return "", nil
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
	}
}

func toolCall(id, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"exec","arguments":` + args + `}}`
}

// rpcError checks the shape that every error must have and returns its code.
func rpcError(t *testing.T, line, wantID string) (code int, message string) {
	t.Helper()
	var res struct {
		JSONRPC string
		ID      json.RawMessage
		Error   struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(line), &res); err != nil || res.JSONRPC != "2.0" || string(res.ID) != wantID || res.Error.Message == "" {
		t.Errorf("answer %s (%v), want an error with id %s", line, err, wantID)
	}
	return res.Error.Code, res.Error.Message
}
