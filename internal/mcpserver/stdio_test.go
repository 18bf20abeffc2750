package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// Each of these is answered or ignored, and the server lives on.
func TestBadLines(t *testing.T) {
	tests := []struct {
		name, line string
		id         string // "" : no answer
		code       int
	}{
		{"garbage", `hello`, "null", -32700},
		{"half a message", `{"jsonrpc":"2.0","id":1,"method":`, "null", -32700},
		{"trailing garbage", `{"jsonrpc":"2.0","id":1,"method":"ping"}x`, "null", -32700},
		{"two on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, "null", -32700},
		{"UTF-16", "{\x00\"\x00", "null", -32700},
		{"too deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "null", -32700},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", -32600},
		{"empty batch", `[]`, "null", -32600},
		{"broken batch", `[{"jsonrpc":]`, "null", -32700},
		{"string", `"ping"`, "null", -32600},
		{"null", `null`, "null", -32600},
		{"number", `17`, "null", -32600},
		{"empty object", `{}`, "null", -32600},
		{"no version", `{"id":1,"method":"ping"}`, "1", -32600},
		{"old version", `{"jsonrpc":"1.0","id":"a","method":"ping"}`, `"a"`, -32600},
		{"wrong case", `{"jsonrpc":"2.0","ID":1,"Method":"ping"}`, "null", -32600},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "1", -32600},
		{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, "1", -32600},
		{"method number", `{"jsonrpc":"2.0","id":1,"method":5}`, "1", -32600},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", -32600},
		{"id not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "null", -32600},
		{"params number", `{"jsonrpc":"2.0","id":1,"method":"ping","params":5}`, "1", -32602},
		{"params array", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, "1", -32602},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "1", -32600},
		{"name number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, "1", -32602},
		{"name very long", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["` + strings.Repeat("x", 5000) + `"]}}`, "1", -32602},
		{"notification with an id", `{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1}}`, "1", -32600},
		{"unknown tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shell"}}`, "1", -32602},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}`, "1", -32601},
		{"initialize twice", hello, `"init"`, -32600},
		{"unknown revision", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, "1", -32022},
		{"bad cursor", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"?"}}`, "1", -32602},
		{"blank", "", "", 0},
		{"spaces and CR", " \t \r", "", 0},
		{"only a byte order mark", "\ufeff", "", 0},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, "", 0},
		{"an error response", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, "", 0},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/weather"}`, "", 0},
		{"notification of a request", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"exec","arguments":{"code":"x"}}}`, "", 0},
		{"cancel nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "", 0},
		{"cancel unknown", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`, "", 0},
		{"cancel answered", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"init"}}`, "", 0},
		{"cancel an object", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := echo()
			w := dialReady(t, r)
			w.send(tt.line)
			if tt.id != "" {
				if code, msg := rpcError(t, w.read(), tt.id); code != tt.code || len(msg) > 210 {
					t.Errorf("error %d %q, want %d", code, msg, tt.code)
				}
			}
			w.alive()
			if n := r.runs.Load(); n != 0 {
				t.Errorf("%d programs were run", n)
			}
		})
	}
}

func TestGoodLines(t *testing.T) {
	const pong = `,"result":{}}`
	tests := []struct{ name, line, want string }{
		{"CRLF", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r", `{"jsonrpc":"2.0","id":1` + pong},
		{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1` + pong},
		{"spaces", `  {"jsonrpc" : "2.0", "id" : 1, "method" : "ping"}  `, `{"jsonrpc":"2.0","id":1` + pong},
		{"string that looks like a number", `{"jsonrpc":"2.0","id":"1","method":"ping"}`, `{"jsonrpc":"2.0","id":"1"` + pong},
		{"empty string", `{"jsonrpc":"2.0","id":"","method":"ping"}`, `{"jsonrpc":"2.0","id":""` + pong},
		{"escapes", `{"jsonrpc":"2.0","id":"a\u0062<\n","method":"ping"}`, `{"jsonrpc":"2.0","id":"a\u0062<\n"` + pong},
		{"zero", `{"jsonrpc":"2.0","id":0,"method":"ping"}`, `{"jsonrpc":"2.0","id":0` + pong},
		{"negative", `{"jsonrpc":"2.0","id":-5,"method":"ping"}`, `{"jsonrpc":"2.0","id":-5` + pong},
		{"above 2^53", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740993` + pong},
		{"above 2^64", `{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}`, `{"jsonrpc":"2.0","id":99999999999999999999` + pong},
		{"fraction", `{"jsonrpc":"2.0","id":1.50,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.50` + pong},
		{"unknown keys", `{"jsonrpc":"2.0","id":1,"method":"ping","extra":[1]}`, `{"jsonrpc":"2.0","id":1` + pong},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, `{"jsonrpc":"2.0","id":1` + pong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := dialReady(t, echo())
			w.send(tt.line)
			w.want(tt.want)
			w.alive()
		})
	}
}

func TestUndeclaredMethods(t *testing.T) {
	w := dialReady(t, echo())
	for _, method := range []string{
		"prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list", "resources/subscribe",
		"resources/unsubscribe", "completion/complete", "logging/setLevel", "roots/list", "sampling/createMessage", "exec", "",
	} {
		w.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"level":"info","uri":"x","name":"x","ref":{"type":"ref/prompt","name":"x"}}}`)
		if code, msg := rpcError(t, w.read(), "1"); code != -32601 {
			t.Errorf("%s: error %d %q, want -32601", method, code, msg)
		}
	}
	w.alive()
}

func TestBeforeInitialize(t *testing.T) {
	r := echo()
	w := dial(t, New(Config{}, r))
	w.alive()
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, toolCall("1", `{"code":"x"}`)} {
		w.send(line)
		if code, msg := rpcError(t, w.read(), "1"); code != -32600 || !strings.Contains(msg, "initialization") {
			t.Errorf("error %d %q, want -32600", code, msg)
		}
	}
	if n := r.runs.Load(); n != 0 {
		t.Errorf("%d runs before initialize", n)
	}
}

// A line may be as long as the caps need it to be; a longer one is skipped.
func TestFrameLimit(t *testing.T) {
	r := echo()
	r.env.Limits.CodeBytes, r.env.Limits.StdinBytes = 1000, 500
	limit := 6*1500 + 64<<10
	w := dialReady(t, r)

	call := toolCall("1", `{"code":"`+strings.Repeat(`\u0001`, 1000)+`","stdin":"`+strings.Repeat(`\u0001`, 500)+`"}`)
	w.send(call)
	if got := w.read(); !strings.Contains(got, `"exit_code":0`) {
		t.Errorf("a call at the caps: %.200s", got)
	}

	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	w.send(ping + strings.Repeat(" ", limit-len(ping)))
	w.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	w.send(ping + strings.Repeat(" ", limit-len(ping)+1))
	w.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: message is longer than %d bytes"}}`, limit))
	w.send(strings.Repeat("x", 20<<20))
	w.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: message is longer than %d bytes"}}`, limit))
	w.alive()
}

// The same JSON twice, and nothing HTML-escaped, byte for byte.
func TestResultOnTheWire(t *testing.T) {
	r := newFake(func(context.Context, sandbox.Request) (sandbox.Result, error) {
		return sandbox.Result{Stdout: "<b>&\u2028\n", Duration: time.Millisecond, Note: "killed_signal: \"9\""}, nil
	})
	w := dialReady(t, r)
	w.send(toolCall("1", `{"code":"x"}`))
	w.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"stdout\":\"<b>&\\u2028\\n\",\"stderr\":\"\",\"exit_code\":0,\"duration_ms\":1,\"truncated\":false,\"timed_out\":false,\"note\":\"killed_signal: \\\"9\\\"\"}"}],` +
		`"structuredContent":{"stdout":"<b>&\u2028\n","stderr":"","exit_code":0,"duration_ms":1,"truncated":false,"timed_out":false,"note":"killed_signal: \"9\""}}}`)
	w.send(toolCall("2", `{"code":"x","stdin":["<"]}`))
	w.want(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"stdin: expected a string, got [\"<\"]"}],"isError":true}}`)
}

func TestPanicDoesNotEndServer(t *testing.T) {
	r := newFake(func(context.Context, sandbox.Request) (sandbox.Result, error) { panic("boom") })
	w := dialReady(t, r)
	w.send(toolCall("1", `{"code":"x"}`))
	w.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"internal error"}],"isError":true}}`)
	w.alive()
}

// brokenRunner panics where the SDK, not the tool, is the caller.
type brokenRunner struct{ *fakeRunner }

func (brokenRunner) Prepare() { panic("boom") }

func TestPanicOutsideTool(t *testing.T) {
	w := dialReady(t, brokenRunner{echo()})
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	w.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`)
	w.alive()
}
