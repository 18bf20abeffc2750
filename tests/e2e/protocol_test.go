//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestBadLines: what is no request is answered, or ignored, and the server lives on.
func TestBadLines(t *testing.T) {
	t.Parallel()
	w := initialized(t, "MCP_EXEC_MAX_CODE_BYTES=1000", "MCP_EXEC_MAX_STDIN_BYTES=1000")
	const parse, invalid, params, method = -32700, -32600, -32602, -32601
	long := strings.Repeat("x", 6*2000+64<<10+1)
	for _, tt := range []struct {
		name, line string
		code       int // 0: no answer
		id         string
	}{
		{"malformed", `{"jsonrpc":"2.0","id":1,`, parse, "null"},
		{"no JSON", `hello`, parse, "null"},
		{"two on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, parse, "null"},
		{"binary", "\x00\x01\x02\xff", parse, "null"},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, invalid, "null"},
		{"empty batch", `[]`, invalid, "null"},
		{"number", `5`, invalid, "null"},
		{"null", `null`, invalid, "null"},
		{"no version", `{"id":901,"method":"ping"}`, invalid, "901"},
		{"version 1", `{"jsonrpc":"1.0","id":902,"method":"ping"}`, invalid, "902"},
		{"no method", `{"jsonrpc":"2.0","id":903}`, invalid, "903"},
		{"method a number", `{"jsonrpc":"2.0","id":904,"method":5}`, invalid, "904"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, invalid, "null"},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, invalid, "null"},
		{"params a list", `{"jsonrpc":"2.0","id":905,"method":"ping","params":[1]}`, params, "905"},
		{"oversized", `{"jsonrpc":"2.0","id":906,"method":"ping","params":{"x":"` + long + `"}}`, invalid, "null"},
		{"oversized and malformed", long, invalid, "null"},
		{"tool unknown", `{"jsonrpc":"2.0","id":907,"method":"tools/call","params":{"name":"eval","arguments":{}}}`, params, "907"},
		{"method unknown", `{"jsonrpc":"2.0","id":908,"method":"no/such"}`, method, "908"},
		{"prompts/list", `{"jsonrpc":"2.0","id":909,"method":"prompts/list"}`, method, "909"},
		{"resources/list", `{"jsonrpc":"2.0","id":910,"method":"resources/list"}`, method, "910"},
		{"resources/templates/list", `{"jsonrpc":"2.0","id":911,"method":"resources/templates/list"}`, method, "911"},
		{"resources/read", `{"jsonrpc":"2.0","id":912,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, method, "912"},
		{"prompts/get", `{"jsonrpc":"2.0","id":913,"method":"prompts/get","params":{"name":"x"}}`, method, "913"},
		{"completion/complete", `{"jsonrpc":"2.0","id":914,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}}`, method, "914"},
		{"logging/setLevel", `{"jsonrpc":"2.0","id":"a b","method":"logging/setLevel","params":{"level":"debug"}}`, method, `"a b"`},
		{"blank", ``, 0, ""},
		{"white space", " \t \r", 0, ""},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, 0, ""},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/no-such"}`, 0, ""},
		{"cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}`, 0, ""},
		{"cancellation without an id", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.send(tt.line)
			if tt.code != 0 {
				a := w.receive()
				if a.Error == nil || a.Error.Code != tt.code || string(a.ID) != tt.id || a.Error.Message == "" {
					t.Errorf("answer %.300s, want error %d to id %s", a.raw, tt.code, tt.id)
				}
				if len(a.raw) > 1000 {
					t.Errorf("the answer is %d bytes long", len(a.raw))
				}
			}
			w.ping()
		})
	}
	w.exec(args{"code": "print('lives')"})
	if got := structured(t, w.receive()); got.Stdout != "lives\n" {
		t.Errorf("after all that: %+v", got)
	}
}

// TestIDs: an answer carries the id as it came.
func TestIDs(t *testing.T) {
	t.Parallel()
	w := initialized(t)
	for _, id := range []string{`0`, `-5`, `"x"`, `""`, `"é\u0000"`, `9007199254740993`, `1.5`, `123456789012345678901234567890`} {
		w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"exec","arguments":{"code":"print(1)"}}}`)
		if a := w.receive(); string(a.ID) != id || structured(t, a).Stdout != "1\n" {
			t.Errorf("id %s: %.300s", id, a.raw)
		}
	}
	w.send("\ufeff" + `{"jsonrpc":"2.0","id":7001,"method":"ping"}` + "\r")
	if a := w.receive(); string(a.ID) != "7001" || a.Error != nil {
		t.Errorf("a line with a byte order mark and CRLF: %s", a.raw)
	}
}

// TestRevisions: every revision of the protocol gets the same tool.
func TestRevisions(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			w := dial(t)
			w.request("initialize", `{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}`)
			var hello struct {
				Version      string                     `json:"protocolVersion"`
				Capabilities map[string]json.RawMessage `json:"capabilities"`
			}
			if err := json.Unmarshal(w.receive().Result, &hello); err != nil || hello.Version != revision {
				t.Errorf("negotiated %q (%v), want %s", hello.Version, err, revision)
			}
			if _, ok := hello.Capabilities["tools"]; !ok || len(hello.Capabilities) != 1 {
				t.Errorf("capabilities %v, want tools alone", hello.Capabilities)
			}
			w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			w.exec(args{"code": "print(1)"})
			if got := structured(t, w.receive()); got.Stdout != "1\n" {
				t.Errorf("exec: %+v", got)
			}
		})
	}
	t.Run("2026-07-28", func(t *testing.T) {
		w := dial(t)
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"e2e","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		w.request("server/discover", `{`+meta+`}`)
		if a := w.receive(); !strings.Contains(string(a.Result), `"2026-07-28"`) {
			t.Errorf("server/discover: %s", a.raw)
		}
		w.request("tools/call", `{"name":"exec","arguments":{"code":"print(1)"},`+meta+`}`)
		a := w.receive()
		if got := structured(t, a); got.Stdout != "1\n" || !strings.Contains(string(a.Result), `"resultType":"complete"`) {
			t.Errorf("exec: %s", a.raw)
		}
	})
}

// TestEndOfInput: when the client closes the server's stdin everything ends at
// once, a running program too, with exit status 0 and without its answer.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code string }{
		{"idle", ""},
		{"running", "import subprocess; subprocess.run(['sleep', '%s'])"},
		{"running in an own session", "import subprocess\nsubprocess.Popen(['sleep', '%s'], start_new_session=True).wait()"},
		{"running the data libraries", "import numpy, subprocess; subprocess.run(['sleep', '%s'])"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := initialized(t)
			if tt.code != "" {
				w.exec(args{"code": strings.ReplaceAll(tt.code, "%s", marker(t)), "timeout_s": 300})
				eventually(t, "the program to run", func() bool { return len(marked(t)) > 0 })
				w.exec(args{"code": "print('waits')"})
			}
			before := below(w.cmd.Process.Pid)
			status, rest := w.finish()
			if status != 0 || len(rest) > 0 {
				t.Errorf("exit status %d and answers %q, want 0 and none", status, rest)
			}
			eventually(t, "the program to be gone", func() bool { return len(marked(t)) == 0 })
			eventually(t, "every process of the server to be gone", func() bool { return len(alive(before)) == 0 })
		})
	}
	t.Run("right after the question", func(t *testing.T) {
		w := initialized(t)
		w.request("tools/list", "{}")
		status, rest := w.finish()
		if status != 0 || len(rest) != 1 || !strings.Contains(rest[0], `"name":"exec"`) {
			t.Errorf("exit status %d, %q; want 0 and the list", status, rest)
		}
	})
	t.Run("before anything", func(t *testing.T) {
		if status, rest := dial(t).finish(); status != 0 || len(rest) > 0 {
			t.Errorf("exit status %d, %q; want 0 and silence", status, rest)
		}
	})
}

// process is a pid and when it began: pids come again.
type process struct {
	pid   int
	began string
}

// below are all processes that descend from pid.
func below(pid int) (found []process) {
	for _, id := range descendants(pid) {
		found = append(found, process{id, began(id)})
	}
	return found
}

func alive(processes []process) (left []int) {
	for _, p := range processes {
		if p.began != "" && began(p.pid) == p.began {
			left = append(left, p.pid)
		}
	}
	return left
}

// began is the start time of a process, field 22 of its stat; empty when gone.
func began(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}
