//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A run's processor time is limited to a second more than its timeout: so a
// program can see which timeout it got without waiting for it.
const printTimeout = `import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[0] - 1)`

// rawCall sends arguments as they stand: JSON that no Go value encodes to.
func (s *server) rawCall(arguments string) *mcp.CallToolResult {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	res, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: "exec", Arguments: json.RawMessage(arguments)})
	if err != nil {
		s.t.Fatalf("exec %.80s: %v\n%s", arguments, err, s.log)
	}
	return res
}

// TestTimeoutArgument sends timeout_s as clients and models really do.
func TestTimeoutArgument(t *testing.T) {
	t.Parallel()
	s := start(t, "MCP_EXEC_DEFAULT_TIMEOUT_S=7", "MCP_EXEC_MAX_TIMEOUT_S=20")
	code, _ := json.Marshal(printTimeout)
	for _, tt := range []struct{ value, want string }{
		{"null", "7"}, {"0", "7"}, {"0.0", "7"}, {"-0", "7"}, {`"0"`, "7"},
		{"3", "3"}, {"3.0", "3"}, {"3e0", "3"}, {"0.3e1", "3"}, {`"3"`, "3"}, {`" 3 "`, "3"}, {`"3.0"`, "3"},
		{"0.5", "1"}, {"0.001", "1"}, {"1.0", "1"}, {"1.2", "2"}, {"2.000001", "3"}, {`"2.1"`, "3"}, {"1e-300", "1"},
		{"-1", "1"}, {"-0.5", "1"}, {"-1e308", "1"}, {`"-3"`, "1"},
		{"19.5", "20"}, {"20", "20"}, {"20.5", "20"}, {"21", "20"}, {"9007199254740993", "20"},
		{"1e308", "20"}, {"1e999", "20"}, {`"1e3"`, "20"}, {"123456789012345678901234567890", "20"},
	} {
		t.Run(tt.value, func(t *testing.T) {
			res := s.in(t).rawCall(`{"code":` + string(code) + `,"timeout_s":` + tt.value + `}`)
			if got := decode(t, res); res.IsError || got.Stdout != tt.want+"\n" {
				t.Errorf("timeout_s %s: the run has %q s, want %s (%s)", tt.value, got.Stdout, tt.want, text(res))
			}
		})
	}
	t.Run("absent", func(t *testing.T) {
		if got := s.in(t).run(printTimeout); got.Stdout != "7\n" {
			t.Errorf("without timeout_s the run has %q s, want 7", got.Stdout)
		}
	})
}

// TestAccepted is input with something unusual that is harmless.
func TestAccepted(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, tt := range []struct{ name, arguments, want string }{
		{"stdin absent", `{"code":"import sys; print(repr(sys.stdin.read()))"}`, "''\n"},
		{"stdin null", `{"code":"import sys; print(repr(sys.stdin.read()))","stdin":null}`, "''\n"},
		{"stdin empty", `{"code":"import sys; print(repr(sys.stdin.read()))","stdin":""}`, "''\n"},
		{"all null but code", `{"code":"print(1)","timeout_s":null,"stdin":null}`, "1\n"},
		{"unknown keys", `{"code":"print(1)","language":"python","files":[{"a":1}],"cwd":null,"Timeout_S":"soon"}`, "1\n"},
		{"a key in other letters beside the right one", `{"CODE":5,"code":"print(1)","Stdin":5}`, "1\n"},
		{"a key twice", `{"code":"print(1)","code":"print(2)"}`, "2\n"},
		{"escapes in JSON", `{"code":"print(\"\u00e9\ud83d\ude00\\n\")"}`, "é😀\n\n"},
		{"NUL in stdin", `{"code":"import sys; print(ascii(sys.stdin.read()))","stdin":"a\u0000b"}`, "'a\\x00b'\n"},
		{"lone surrogate in stdin", `{"code":"import sys; print(ascii(sys.stdin.read()))","stdin":"a\ud800b"}`, "'a\\ufffdb'\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := s.in(t).rawCall(tt.arguments)
			if got := decode(t, res); res.IsError || got.Stdout != tt.want {
				t.Errorf("%s: stdout %q, want %q (%s)", tt.arguments, got.Stdout, tt.want, text(res))
			}
		})
	}
}

// TestRefused is input that is a tool error: what was expected, what came.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := start(t, "MCP_EXEC_MAX_CODE_BYTES=1000", "MCP_EXEC_MAX_STDIN_BYTES=10")
	const ok = `"code":"print(1)"`
	large := strings.Repeat("#", 1001)
	for _, tt := range []struct {
		name, arguments string
		want            []string // parts of the message
	}{
		{"no arguments", `null`, []string{"code", "required"}},
		{"arguments a list", `[]`, []string{"object", "[]"}},
		{"no code", `{}`, []string{"code", "required"}},
		{"code null", `{"code":null}`, []string{"code", "required"}},
		{"code in other letters", `{"Code":"print(1)"}`, []string{"code", "required"}},
		{"code empty", `{"code":""}`, []string{"code", "empty"}},
		{"code white space", `{"code":" \n\t\r\n "}`, []string{"code", "white space"}},
		{"code an empty fence", "{\"code\":\"```python\\n\\n```\"}", []string{"code", "white space"}},
		{"code a number", `{"code":5}`, []string{"code", "string", "5"}},
		{"code true", `{"code":true}`, []string{"code", "string", "true"}},
		{"code a list", `{"code":["print(1)"]}`, []string{"code", "string", "["}},
		{"code an object", `{"code":{"a":1}}`, []string{"code", "string", "{"}},
		{"code too large", `{"code":"` + large + `"}`, []string{"code", "1001", "1000"}},
		{"code too large in bytes", `{"code":"#` + strings.Repeat("€", 334) + `"}`, []string{"code", "1003", "1000"}},
		{"stdin too large", `{` + ok + `,"stdin":"12345678901"}`, []string{"stdin", "11", "10"}},
		{"stdin too large in bytes", `{` + ok + `,"stdin":"€€€€"}`, []string{"stdin", "12", "10"}},
		{"stdin a number", `{` + ok + `,"stdin":5}`, []string{"stdin", "string", "5"}},
		{"stdin a list", `{` + ok + `,"stdin":["a"]}`, []string{"stdin", "string", `["a"]`}},
		{"stdin an object", `{` + ok + `,"stdin":{}}`, []string{"stdin", "string", "{}"}},
		{"timeout a word", `{` + ok + `,"timeout_s":"soon"}`, []string{"timeout_s", "whole number of seconds from 1 to 300", `"soon"`}},
		{"timeout with a unit", `{` + ok + `,"timeout_s":"5s"}`, []string{"timeout_s", "whole number", `"5s"`}},
		{"timeout hexadecimal", `{` + ok + `,"timeout_s":"0x5"}`, []string{"timeout_s", "whole number", `"0x5"`}},
		{"timeout not a number", `{` + ok + `,"timeout_s":"NaN"}`, []string{"timeout_s", "whole number", `"NaN"`}},
		{"timeout infinite", `{` + ok + `,"timeout_s":"inf"}`, []string{"timeout_s", "whole number", `"inf"`}},
		{"timeout true", `{` + ok + `,"timeout_s":true}`, []string{"timeout_s", "whole number", "true"}},
		{"timeout a list", `{` + ok + `,"timeout_s":[30]}`, []string{"timeout_s", "whole number", "[30]"}},
		{"timeout an object", `{` + ok + `,"timeout_s":{"s":3}}`, []string{"timeout_s", "whole number", `{"s":3}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := s.in(t).rawCall(tt.arguments)
			if !res.IsError || res.StructuredContent != nil {
				t.Fatalf("%.80s: got %s, want a tool error", tt.arguments, text(res))
			}
			for _, part := range tt.want {
				if !strings.Contains(text(res), part) {
					t.Errorf("%.80s: message %q does not say %q", tt.arguments, text(res), part)
				}
			}
		})
	}
}

// TestAtTheCaps is the largest input that is allowed.
func TestAtTheCaps(t *testing.T) {
	t.Parallel()
	s := start(t, "MCP_EXEC_MAX_CODE_BYTES=1000", "MCP_EXEC_MAX_STDIN_BYTES=10")
	code := "import sys; print(len(sys.stdin.buffer.read())) #"
	code += strings.Repeat("x", 1000-len(code))
	if got := s.call(args{"code": code, "stdin": "€€€1"}); got.Stdout != "10\n" {
		t.Errorf("code of 1000 bytes and stdin of 10: %+v", got)
	}
}

// TestLargestInput sends a mebibyte of each, in the worst encoding that JSON has.
func TestLargestInput(t *testing.T) {
	s := start(t)
	const mebibyte = 1 << 20
	code := "import sys; text = sys.stdin.read(); print(len(text), set(text) == {'\\0'}, len('''"
	end := "'''))"
	filler := mebibyte - len(code) - len(end)
	code += strings.Repeat("\x01", filler) + end
	got := s.call(args{"code": code, "stdin": strings.Repeat("\x00", mebibyte)})
	if want := fmt.Sprintf("1048576 True %d\n", filler); got.Stdout != want || got.ExitCode != 0 {
		t.Errorf("stdout %q, exit %d, note %q, stderr %.300q; want %q", got.Stdout, got.ExitCode, got.Note, got.Stderr, want)
	}
	for field, a := range map[string]args{
		"code":  {"code": strings.Repeat("#", mebibyte+1)},
		"stdin": {"code": "print(1)", "stdin": strings.Repeat("x", mebibyte+1)},
	} {
		res, err := s.raw(t.Context(), a)
		if err != nil || !res.IsError || text(res) != field+" is 1048577 bytes, limit 1048576" {
			t.Errorf("%s of a mebibyte and a byte: %v, %v", field, res, err)
		}
	}
}
