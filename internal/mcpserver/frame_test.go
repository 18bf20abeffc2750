package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readAll lists the lines; one that was too long is "!".
func readAll(t *testing.T, in io.Reader, limit int) (lines []string) {
	t.Helper()
	r := newLineReader(in, limit)
	for {
		text, err := r.next()
		switch {
		case errors.Is(err, errLineTooLong):
			lines = append(lines, "!")
		case errors.Is(err, io.EOF):
			return lines
		case err != nil:
			t.Fatal(err)
		default:
			if len(text) > limit {
				t.Fatalf("line of %d bytes, limit %d", len(text), limit)
			}
			lines = append(lines, string(text))
		}
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 200<<10) // longer than the buffer
	tests := []struct {
		name, in string
		limit    int
		want     []string
	}{
		{"nothing", "", 10, nil},
		{"lines", "a\nb\n", 10, []string{"a", "b"}},
		{"no end", "a\nb", 10, []string{"a", "b"}},
		{"blank", "\n\na\n", 10, []string{"", "", "a"}},
		{"at the limit", "0123456789\n", 10, []string{"0123456789"}},
		{"above", "0123456789a\nb\n", 10, []string{"!", "b"}},
		{"above, no end", "b\n0123456789a", 10, []string{"b", "!"}},
		{"far above", long + "\nb\n", 10, []string{"!", "b"}},
		{"long", long + "\nb\n", len(long), []string{long, "b"}},
		{"long by one", long + "\nb\n", len(long) - 1, []string{"!", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, readAll(t, strings.NewReader(tt.in), tt.limit)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, readAll(t, iotest.HalfReader(strings.NewReader(tt.in)), tt.limit)); diff != "" {
				t.Errorf("lines from a slow reader (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseID(t *testing.T) {
	tests := []struct {
		raw  string
		want any // nil: no id
	}{
		{`1`, int64(1)}, {`-1`, int64(-1)}, {`0`, int64(0)}, {`9007199254740992`, int64(1 << 53)},
		{`9007199254740993`, "\x009007199254740993"}, {`1.5`, "\x001.5"}, {`1e2`, "\x001e2"},
		{`"1"`, "1"}, {`""`, ""}, {`"\u0061"`, "a"},
		{``, nil}, {`null`, nil}, {`true`, nil}, {`[]`, nil}, {`{}`, nil}, {"\"\xff\"", nil},
	}
	for _, tt := range tests {
		id, ok := parseID(json.RawMessage(tt.raw))
		if id.Raw() != tt.want || ok != (tt.want != nil) {
			t.Errorf("parseID(%q) = %#v, %v, want %#v", tt.raw, id.Raw(), ok, tt.want)
		}
	}
}

// FuzzLine: whatever comes is cut and parsed without harm, and an id is given
// back as valid JSON.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", "[]\n\ufeff{}\r\n", "{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":5}",
		"{\"jsonrpc\":\"2.0\",\"id\":1e999,\"params\":null,\"method\":\"\"}\n\n", "0123456789012345678901234567890123456789\nnull",
	} {
		f.Add([]byte(seed), 100)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		if limit < 1 || limit > 1<<20 {
			return
		}
		lines := readAll(t, bytes.NewReader(in), limit)
		if n := strings.Count(string(in), "\n"); len(lines) != n && len(lines) != n+1 {
			t.Fatalf("%d lines from %d ends", len(lines), n)
		}
		for _, line := range lines {
			checkParsed(t, line)
		}
	})
}

func checkParsed(t *testing.T, line string) {
	t.Helper()
	msg, bad := parseLine([]byte(line))
	switch {
	case msg != nil && bad != nil:
		t.Fatalf("%q is both a message and a fault", line)
	case bad != nil:
		if bad.code != -32700 && bad.code != -32600 && bad.code != -32602 || bad.id != nil && !json.Valid(bad.id) {
			t.Fatalf("%q: fault %+v", line, bad)
		}
	case msg != nil:
		if msg.IsCall() != (msg.rawID != nil) || msg.rawID != nil && !json.Valid(msg.rawID) {
			t.Fatalf("%q: id %v, raw %q", line, msg.ID.Raw(), msg.rawID)
		}
	}
}

// FuzzServe feeds a whole server: it must neither die nor write anything but
// JSON-RPC.
func FuzzServe(f *testing.F) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, seed := range []string{
		hello + "\n" + toolCall("1", `{"code":"x","timeout_s":null}`) + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		hello + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x"}}`,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":null,"clientInfo":null}}`,
		`{"jsonrpc":"2.0","id":0,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"exec","inputResponses":{"a":{}},"requestState":"x",` + meta + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x"}}`,
		"[]\n\n\ufeffnull\n",
	} {
		f.Add([]byte(seed))
	}
	s := New(Config{}, echo())
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			var msg struct{ JSONRPC string }
			if err := json.Unmarshal([]byte(line), &msg); err != nil || msg.JSONRPC != "2.0" {
				t.Fatalf("wrote %q: %v", line, err)
			}
		}
	})
}
