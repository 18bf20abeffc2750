package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func TestCancelIsNotAnswered(t *testing.T) {
	for _, id := range []string{`7`, `"seven"`, `"s\u0065ven"`, `9007199254740993`, `7.5`} {
		t.Run(id, func(t *testing.T) {
			started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			w := dialReady(t, sleeper(started, ended))
			w.send(toolCall(id, `{"code":"x"}`))
			await(t, "the run", started)
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"bored"}}`)
			await(t, "the end of the run", ended)
			w.alive()
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
			w.alive()
		})
	}
}

// A number and a string are two ids, and one run is not another.
func TestCancelHitsOneCall(t *testing.T) {
	started := make(chan struct{}, 3)
	release := make(chan struct{})
	r := newFake(func(ctx context.Context, req sandbox.Request) (sandbox.Result, error) {
		started <- struct{}{}
		select {
		case <-ctx.Done():
			return sandbox.Result{}, ctx.Err()
		case <-release:
			return sandbox.Result{Stdout: req.Code}, nil
		}
	})
	w := dialReady(t, r)
	for _, id := range []string{`1`, `"1"`} {
		w.send(toolCall(id, `{"code":"x"}`))
		await(t, "a run", started)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`)
	w.alive()
	close(release)
	if got := w.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"result"`) {
		t.Errorf("answer %s, want that of id 1", got)
	}
	w.alive()
}

// While an id is in use a second request with it must not get its answer.
func TestDuplicateID(t *testing.T) {
	started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	w := dialReady(t, sleeper(started, ended))
	w.send(toolCall("5", `{"code":"x"}`))
	await(t, "the run", started)
	w.send(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	w.want(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: id 5 is in use"}}`)
	w.alive()
}

// Many calls and cancels at once, for the race detector. No cancelled call that
// was still running may be answered, every other one must be, once.
func TestConcurrentCancels(t *testing.T) {
	r := newFake(func(ctx context.Context, req sandbox.Request) (sandbox.Result, error) {
		if req.Code == "wait" {
			<-ctx.Done()
		}
		return sandbox.Result{}, nil
	})
	w := dialReady(t, r)
	const n = 200
	for i := range n {
		w.send(toolCall(fmt.Sprint(i), []string{`{"code":"wait"}`, `{"code":"go"}`}[i%2]))
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i-i%2))
	}
	w.send(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	seen := map[string]bool{}
	for len(seen) < n/2+1 {
		var res struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(w.read()), &res); err != nil || seen[string(res.ID)] {
			t.Fatalf("id %s: %v, seen %v", res.ID, err, seen[string(res.ID)])
		}
		seen[string(res.ID)] = true
	}
	for i := range n {
		if got := seen[fmt.Sprint(i)]; got != (i%2 == 1) {
			t.Errorf("call %d answered: %v", i, got)
		}
	}
}
