package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func testLimits() sandbox.Limits {
	return sandbox.Limits{DefaultTimeout: 30 * time.Second, MaxTimeout: 300 * time.Second, CodeBytes: 40, StdinBytes: 8}
}

func TestTimeout(t *testing.T) {
	tests := []struct {
		raw  string
		want time.Duration
	}{
		{`null`, 30 * time.Second},
		{`0`, 30 * time.Second},
		{`-0`, 30 * time.Second},
		{`0.0`, 30 * time.Second},
		{`"0"`, 30 * time.Second},
		{`30`, 30 * time.Second},
		{`30.0`, 30 * time.Second},
		{`3e1`, 30 * time.Second},
		{`"30"`, 30 * time.Second},
		{`" 30\n"`, 30 * time.Second},
		{`"3e1"`, 30 * time.Second},
		{`"+7"`, 7 * time.Second},
		{`"007"`, 7 * time.Second},
		{`1`, time.Second},
		{`0.5`, time.Second},
		{`1e-300`, time.Second},
		{`2.000001`, 3 * time.Second},
		{`"2.5"`, 3 * time.Second},
		{`-1`, time.Second},
		{`-0.5`, time.Second},
		{`"-7"`, time.Second},
		{`-1e400`, time.Second},
		{`299.5`, 300 * time.Second},
		{`300`, 300 * time.Second},
		{`301`, 300 * time.Second},
		{`"1000000"`, 300 * time.Second},
		{`99999999999999999999`, 300 * time.Second},
		{`1e308`, 300 * time.Second},
		{`1e400`, 300 * time.Second},
		{`"1e400"`, 300 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.raw, func(t *testing.T) {
			req, err := parseArguments(json.RawMessage(`{"code":"x","timeout_s":`+tt.raw+`}`), testLimits())
			if err != nil || req.Timeout != tt.want {
				t.Errorf("timeout_s %s = %v, %v, want %v", tt.raw, req.Timeout, err, tt.want)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	tests := []struct {
		name, raw string
		want      sandbox.Request
	}{
		{"code only", `{"code":"x=1"}`, sandbox.Request{Code: "x=1"}},
		{"stdin", `{"code":"x","stdin":"a\nb"}`, sandbox.Request{Code: "x", Stdin: "a\nb"}},
		{"stdin null", `{"code":"x","stdin":null}`, sandbox.Request{Code: "x"}},
		{"stdin empty", `{"code":"x","stdin":""}`, sandbox.Request{Code: "x"}},
		{"stdin at the cap", `{"code":"x","stdin":"12345678"}`, sandbox.Request{Code: "x", Stdin: "12345678"}},
		{"unknown keys", `{"language":"python","code":"x","args":[{"a":1}]}`, sandbox.Request{Code: "x"}},
		{"other case is unknown", `{"code":"x","Code":"y","STDIN":"z","Timeout_S":"soon"}`, sandbox.Request{Code: "x"}},
		{"twice, the last", `{"code":"x","code":"y"}`, sandbox.Request{Code: "y"}},
		{"escaped key", `{"\u0063ode":"x"}`, sandbox.Request{Code: "x"}},
		{"white space kept", `{"code":"\n x \r\n"}`, sandbox.Request{Code: "\n x \r\n"}},
		{"byte order mark kept", `{"code":"\ufeffx"}`, sandbox.Request{Code: "\ufeffx"}},
		{"lone surrogate", `{"code":"'\ud800'"}`, sandbox.Request{Code: "'\ufffd'"}},
		{"pair of surrogates", `{"code":"'\ud83d\ude00'"}`, sandbox.Request{Code: "'😀'"}},
		{"invalid UTF-8", "{\"code\":\"'\xff'\"}", sandbox.Request{Code: "'\ufffd'"}},
		{"NUL is left to Python", `{"code":"x\u0000"}`, sandbox.Request{Code: "x\x00"}},
		{"code at the cap", `{"code":"` + strings.Repeat("x", 40) + `"}`, sandbox.Request{Code: strings.Repeat("x", 40)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Timeout = 30 * time.Second
			got, err := parseArguments(json.RawMessage(tt.raw), testLimits())
			if err != nil || got != tt.want {
				t.Errorf("parseArguments(%s) = %+v, %v, want %+v", tt.raw, got, err, tt.want)
			}
		})
	}
}

func TestBadArguments(t *testing.T) {
	const required = "code is required: expected a string of Python source, got nothing"
	const blank = "code is empty: expected Python source, got only white space"
	const timeout = "timeout_s: expected a whole number of seconds from 1 to 300, got "
	tests := []struct{ name, raw, want string }{
		{"no arguments", ``, required},
		{"null", `null`, required},
		{"empty", `{}`, required},
		{"code null", `{"code":null}`, required},
		{"other case", `{"CODE":"x"}`, required},
		{"array", `["x"]`, `arguments: expected an object, got ["x"]`},
		{"object in a string", `"{}"`, `arguments: expected an object, got "{}"`},
		{"code empty", `{"code":""}`, blank},
		{"code blank", `{"code":" \t\r\n\u00a0"}`, blank},
		{"fence around nothing", "{\"code\":\"```python\\n\\n```\"}", blank},
		{"code number", `{"code":5}`, `code: expected a string, got 5`},
		{"code array", `{"code":["a"]}`, `code: expected a string, got ["a"]`},
		{"code too long", `{"code":"` + strings.Repeat("é", 21) + `"}`, "code is 42 bytes, limit 40"},
		{"stdin too long", `{"code":"x","stdin":"123456789"}`, "stdin is 9 bytes, limit 8"},
		{"stdin number", `{"code":"x","stdin":5}`, `stdin: expected a string, got 5`},
		{"stdin object", `{"code":"x","stdin":{}}`, `stdin: expected a string, got {}`},
		{"soon", `{"code":"x","timeout_s":"soon"}`, timeout + `"soon"`},
		{"true", `{"code":"x","timeout_s":true}`, timeout + `true`},
		{"array", `{"code":"x","timeout_s":[]}`, timeout + `[]`},
		{"object", `{"code":"x","timeout_s":{}}`, timeout + `{}`},
		{"empty string", `{"code":"x","timeout_s":""}`, timeout + `""`},
		{"NaN", `{"code":"x","timeout_s":"NaN"}`, timeout + `"NaN"`},
		{"Infinity", `{"code":"x","timeout_s":"inf"}`, timeout + `"inf"`},
		{"hexadecimal", `{"code":"x","timeout_s":"0x10p1"}`, timeout + `"0x10p1"`},
		{"unit", `{"code":"x","timeout_s":"30s"}`, timeout + `"30s"`},
		{"only an e", `{"code":"x","timeout_s":"e"}`, timeout + `"e"`},
		{"long", `{"code":"x","timeout_s":"` + strings.Repeat("é", 50) + `"}`, timeout + `"` + strings.Repeat("é", 19) + "..."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseArguments(json.RawMessage(tt.raw), testLimits())
			if err == nil || err.Error() != tt.want {
				t.Errorf("parseArguments(%s) = %+v, %v, want %s", tt.raw, got, err, tt.want)
			}
		})
	}
}

func TestStripFence(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"plain", "print(1)\n", "print(1)\n"},
		{"python", "```python\nprint(1)\n```", "print(1)\n"},
		{"py and space around", "\n ```py\nprint(1)\n``` \n", "print(1)\n"},
		{"no language", "```\nprint(1)\n```", "print(1)\n"},
		{"CRLF", "```python\r\nprint(1)\r\n```\r\n", "print(1)\r\n"},
		{"byte order mark", "\ufeff```\nprint(1)\n```", "print(1)\n"},
		{"tildes", "~~~python\nprint(1)\n~~~", "print(1)\n"},
		{"four", "````\n'''\n```\nx\n```\n'''\n````", "'''\n```\nx\n```\n'''\n"},
		{"one only", "```\n```\nprint(1)\n```\n```", "```\nprint(1)\n```\n"},
		{"indented body", "```\n  if x:\n    y\n```", "  if x:\n    y\n"},
		{"nothing inside", "```\n```", ""},
		{"not closed", "```python\nprint(1)", "```python\nprint(1)"},
		{"closed by another", "```python\nprint(1)\n~~~", "```python\nprint(1)\n~~~"},
		{"one line", "```print(1)```", "```print(1)```"},
		{"only a fence", "```", "```"},
		{"text before", "Here:\n```\nprint(1)\n```", "Here:\n```\nprint(1)\n```"},
		{"inside a string", "x = '''\n```\n'''", "x = '''\n```\n'''"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := stripFence(tt.code); got != tt.want {
				t.Errorf("stripFence(%q) = %q, want %q", tt.code, got, tt.want)
			}
		})
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{"code":"print(1)","timeout_s":"30","stdin":null}`, `{"code":"x","timeout_s":1e400}`,
		"{\"code\":\"```py\\nx\\n```\"}", `{"code":"\ud800","timeout_s":[]}`, `{"timeout_s":-0.5,"code":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	lim := testLimits()
	f.Fuzz(func(t *testing.T, raw []byte) {
		req, err := parseArguments(raw, lim)
		if err != nil {
			if msg := err.Error(); !utf8.ValidString(msg) || len(msg) > 200 || strings.ToLower(msg[:1]) != msg[:1] {
				t.Errorf("message %q", msg)
			}
			return
		}
		if req.Timeout < time.Second || req.Timeout > lim.MaxTimeout || req.Timeout%time.Second != 0 {
			t.Errorf("timeout %v", req.Timeout)
		}
		if len(req.Code) > lim.CodeBytes || len(req.Stdin) > lim.StdinBytes || strings.TrimSpace(req.Code) == "" {
			t.Errorf("request %+v", req)
		}
		if !utf8.ValidString(req.Code) || !utf8.ValidString(req.Stdin) {
			t.Errorf("not UTF-8: %+v", req)
		}
	})
}
