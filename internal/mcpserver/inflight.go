package mcpserver

import (
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// inflight are the requests of one connection that have no answer yet. The SDK
// answers cancelled requests too, which the protocol forbids: here is known
// which answers to hold back.
type inflight struct {
	mu    sync.Mutex
	calls map[jsonrpc.ID]*call // protected by mu
	owed  int                  // protected by mu; answers that are not written yet
	idle  chan struct{}        // protected by mu; not nil once drained was called
}

type call struct {
	rawID     json.RawMessage
	method    string
	cancelled bool // its answer goes nowhere
}

// begin notes a request; false: its id is in use. A cancelled one keeps its id
// until the SDK has answered, or that answer would go to the id's next user.
func (f *inflight) begin(msg *message) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls[msg.ID] != nil {
		return false
	}
	if f.calls == nil {
		f.calls = make(map[jsonrpc.ID]*call)
	}
	f.calls[msg.ID] = &call{rawID: msg.rawID, method: msg.Method}
	f.owed++
	return true
}

// cancel reports whether there was something to cancel. A client must not
// cancel initialize; if it does, it still needs the answer.
func (f *inflight) cancel(id jsonrpc.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.calls[id]
	if c == nil || c.cancelled || c.method == "initialize" {
		return false
	}
	c.cancelled = true
	f.settle()
	return true
}

// cancelRuns cancels the tool calls, the only requests that take long.
func (f *inflight) cancelRuns() (ids []jsonrpc.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, c := range f.calls {
		if c.method == "tools/call" && !c.cancelled {
			c.cancelled = true
			f.settle()
			ids = append(ids, id)
		}
	}
	return ids
}

// answer takes a request out. If somebody waits for its answer the caller must
// call written afterwards.
func (f *inflight) answer(id jsonrpc.ID) (rawID json.RawMessage, wanted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.calls[id]
	delete(f.calls, id)
	if c == nil || c.cancelled {
		return nil, false
	}
	return c.rawID, true
}

func (f *inflight) written() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
}

// settle is called with mu held, once for each call.
func (f *inflight) settle() {
	f.owed--
	if f.owed == 0 && f.idle != nil {
		close(f.idle)
	}
}

// drained is closed when no answer is owed. It is called once, after the last
// begin.
func (f *inflight) drained() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = make(chan struct{})
	if f.owed == 0 {
		close(f.idle)
	}
	return f.idle
}
