package mcpserver

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func newMessage(t *testing.T, rawID, method string) *message {
	t.Helper()
	id, ok := parseID(json.RawMessage(rawID))
	if !ok {
		t.Fatalf("no id: %s", rawID)
	}
	return &message{&jsonrpc.Request{ID: id, Method: method}, json.RawMessage(rawID)}
}

func TestInflight(t *testing.T) {
	var f inflight
	hello, run, list := newMessage(t, "1", "initialize"), newMessage(t, `"1"`, "tools/call"), newMessage(t, "2", "tools/list")
	for _, msg := range []*message{hello, run, list} {
		if !f.begin(msg) {
			t.Fatalf("id %s is in use", msg.rawID)
		}
	}
	if f.begin(newMessage(t, "2", "ping")) {
		t.Error("an id was taken twice")
	}
	if f.cancel(hello.ID) {
		t.Error("initialize was cancelled")
	}
	if !f.cancel(run.ID) || f.cancel(run.ID) {
		t.Error("a run is cancelled once")
	}
	if f.begin(run) {
		t.Error("the id of a cancelled run is free before its answer came")
	}
	if _, wanted := f.answer(run.ID); wanted {
		t.Error("the answer of a cancelled run is wanted")
	}
	if !f.begin(run) {
		t.Error("the id of a finished run is not free")
	}
	if raw, wanted := f.answer(run.ID); !wanted || string(raw) != `"1"` {
		t.Errorf("answer(%s) = %s, %v", run.rawID, raw, wanted)
	}
	f.written()
	if f.cancel(run.ID) {
		t.Error("an answered run was cancelled")
	}
}

func TestInflightDrains(t *testing.T) {
	var f inflight
	run, list := newMessage(t, "1", "tools/call"), newMessage(t, "2", "tools/list")
	f.begin(run)
	f.begin(list)
	if ids := f.cancelRuns(); len(ids) != 1 || ids[0] != run.ID {
		t.Errorf("cancelRuns() = %v, want the run only", ids)
	}
	idle := f.drained()
	if closed(idle) {
		t.Error("drained while an answer is owed")
	}
	f.answer(run.ID)
	f.answer(list.ID)
	if closed(idle) {
		t.Error("drained before the answer was written")
	}
	f.written()
	if !closed(idle) {
		t.Error("not drained after the last answer")
	}
	if !closed(new(inflight).drained()) {
		t.Error("a connection without requests is not drained")
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
