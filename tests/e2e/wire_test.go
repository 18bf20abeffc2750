//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// wire is a server that a test speaks to line by line, where the SDK's client
// would hide what is on the wire.
type wire struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // closed when the server's stdout ends
	log   *logBuffer
	next  int // id of the next request
}

// answer is a response, or whatever else came.
type answer struct {
	raw    string
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// dial starts a server and says nothing yet.
func dial(t testing.TB, env ...string) *wire {
	t.Helper()
	requireSandbox(t)
	w := &wire{t: t, cmd: command(env...), lines: make(chan string, 1024), log: &logBuffer{}, next: 1}
	w.cmd.Stderr = w.log
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		w.readLines(out)
	}()
	t.Cleanup(func() {
		w.in.Close()
		<-read
		_ = w.cmd.Wait() // an error where finish has waited already
		if t.Failed() {
			t.Logf("server log:\n%s", w.log)
		}
	})
	return w
}

func (w *wire) readLines(out io.Reader) {
	defer close(w.lines)
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		w.lines <- strings.TrimSuffix(line, "\n")
	}
}

// initialized is dial with the handshake of the older revisions.
func initialized(t testing.TB, env ...string) *wire {
	t.Helper()
	w := dial(t, env...)
	id := w.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}`)
	if a := w.receive(); string(a.ID) != id || a.Result == nil {
		t.Fatalf("initialize: got %s", a.raw)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatalf("send %.80s: %v\n%s", line, err, w.log)
	}
}

// request returns the id that it used.
func (w *wire) request(method, params string) string {
	w.t.Helper()
	id := fmt.Sprint(w.next)
	w.next++
	w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return id
}

// exec calls the tool and returns the id of the request.
func (w *wire) exec(a args) string {
	w.t.Helper()
	params, err := json.Marshal(map[string]any{"name": "exec", "arguments": a})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.request("tools/call", string(params))
}

func (w *wire) cancel(id string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
}

// receive returns the next message of the server.
func (w *wire) receive() answer {
	w.t.Helper()
	select {
	case line, ok := <-w.lines:
		if !ok {
			w.t.Fatalf("receive: the server has closed its stdout\n%s", w.log)
		}
		a := answer{raw: line}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			w.t.Fatalf("receive: %v in %.200q", err, line)
		}
		return a
	case <-time.After(hang):
		w.t.Fatalf("receive: nothing came\n%s", w.log)
	}
	panic("unreachable")
}

// pause gives a call the time to take its place before the next one is sent:
// two that are sent at once may arrive in either order.
func pause() { time.Sleep(150 * time.Millisecond) }

// ping proves that the server answers, and that nothing else came before.
func (w *wire) ping() {
	w.t.Helper()
	id := w.request("ping", "{}")
	if a := w.receive(); string(a.ID) != id || string(a.Result) != "{}" {
		w.t.Fatalf("ping: got %s", a.raw)
	}
}

// finish closes the server's stdin and returns its exit status and what it
// still had to say.
func (w *wire) finish() (status int, rest []string) {
	w.t.Helper()
	w.in.Close()
	timeout := time.After(hang)
	for {
		select {
		case line, ok := <-w.lines:
			if ok {
				rest = append(rest, line)
				continue
			}
			_ = w.cmd.Wait()
			return w.cmd.ProcessState.ExitCode(), rest
		case <-timeout:
			w.t.Fatalf("the server lives on after the end of its stdin\n%s", w.log)
		}
	}
}

// structured decodes the result of a call.
func structured(t testing.TB, a answer) result {
	t.Helper()
	var call struct {
		Structured *result `json:"structuredContent"`
	}
	if err := json.Unmarshal(a.Result, &call); err != nil || call.Structured == nil {
		t.Fatalf("no structured content in %s (%v)", a.raw, err)
	}
	return *call.Structured
}
