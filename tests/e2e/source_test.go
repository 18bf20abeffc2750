//go:build linux

package e2e

import (
	"strings"
	"testing"
)

func manyTimes(s string, n int) string { return strings.Repeat(s, n) }

// TestSource is code in the forms that editors and models produce.
func TestSource(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, p := range []program{
		{name: "CRLF", code: "def f():\r\n    return '''a\r\nb'''\r\nprint(ascii(f()))\r\n", says: []string{`'a\nb'`}},
		{name: "CR", code: "print(1)\rprint(2)\r", says: []string{"1\n2\n"}},
		{name: "CRLF in a traceback", code: "def f():\r\n    1/0\r\nf()\r\n", exit: 1, says: []string{"line 2, in f"}},
		{name: "byte order mark", code: "\ufeffprint(1)\n", says: []string{"1\n"}},
		{name: "byte order mark in a traceback", code: "\ufeff1/0\n", exit: 1, says: []string{"1/0"}},
		{name: "tabs", code: "if True:\n\tprint('tab')\n", says: []string{"tab"}},
		{name: "form feed", code: "\x0cprint(1)\n\x0c\nprint(2)\n", says: []string{"2"}},
		{name: "no end of line", code: "print(1)", says: []string{"1"}},
		{name: "only a comment", code: "# nothing"},
		{name: "indented comment at the end", code: "if 1:\n    print(1)\n    # end", says: []string{"1"}},
		{name: "cookie utf-8", code: "# -*- coding: utf-8 -*-\nprint('é')\n", says: []string{"é"}},
		{name: "cookie latin-1", code: "# -*- coding: latin-1 -*-\nprint('é')\n", says: []string{"Ã©"}},
		{name: "cookie in line 2", code: "#!/usr/bin/env python3\n# vim: set fileencoding=cp1252 :\nprint('€')\n", says: []string{"â‚¬"}},
		{name: "cookie and byte order mark", code: "\ufeff# coding: utf-8\nprint('é')\n", says: []string{"é"}},
		{name: "shebang", code: "#!/usr/bin/python\nprint(1)\n", says: []string{"1"}},
		{name: "identifiers", code: "größe = 1\nπ = 3\nprint(größe, π, 'ﬁ'.isidentifier())\n", says: []string{"1 3 True"}},
		{name: "surrogate pair and astral", code: "print(len('😀'), '😀')\n", says: []string{"1 😀"}},
		{name: "line separator", code: "x = 'a\u2028b'\nprint(ascii(x))\n", says: []string{`'a\u2028b'`}},
		{name: "control characters", code: "x = 'a\x01\x7f'\nprint(ascii(x))\n", says: []string{`'a\x01\x7f'`}},
	} {
		t.Run(p.name, func(t *testing.T) { s.in(t).compare(p) })
	}
	t.Run("unknown cookie", func(t *testing.T) {
		got := s.in(t).run("# coding: no-such-thing\nprint(1)\n")
		if got.ExitCode != 1 || !strings.Contains(got.Stderr, "SyntaxError") || !strings.Contains(got.Stderr, "no-such-thing") {
			t.Errorf("code with an unknown cookie: %+v", got)
		}
	})
	t.Run("NUL", func(t *testing.T) {
		got := s.in(t).run("print(1)\n\x00print(2)\n")
		if got.ExitCode != 1 || !strings.Contains(got.Stderr, "null bytes") {
			t.Errorf("code with a NUL: %+v", got)
		}
	})
}

// TestFence is code that a model has wrapped as it would in a chat.
func TestFence(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, tt := range []struct{ name, code, want string }{
		{"python", "```python\nprint(1)\n```", "1\n"},
		{"plain", "```\nprint(1)\n```", "1\n"},
		{"white space around", "\n  ```py\nif True:\n    print(1)\n```  \n\n", "1\n"},
		{"CRLF", "```python\r\nprint(1)\r\n```\r\n", "1\n"},
		{"byte order mark", "\ufeff```python\nprint(1)\n```", "1\n"},
		{"longer", "````python\nprint('''\n```\n''')\n````", "\n```\n\n"},
		{"tildes", "~~~ python\nprint(1)\n~~~", "1\n"},
		{"inside a program", "print('''```python\nx\n```''')", "```python\nx\n```\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.in(t).run(tt.code); got.Stdout != tt.want || got.ExitCode != 0 {
				t.Errorf("%q: %+v, want stdout %q", tt.code, got, tt.want)
			}
		})
	}
	t.Run("not the whole", func(t *testing.T) {
		got := s.in(t).run("Here it is:\n```python\nprint(1)\n```")
		if got.ExitCode != 1 || !strings.Contains(got.Stderr, "SyntaxError") {
			t.Errorf("text around a fence: %+v, want a SyntaxError", got)
		}
	})
	t.Run("lines are those of the code", func(t *testing.T) {
		got := s.in(t).run("```python\nx = 1\n1/0\n```")
		if !strings.Contains(got.Stderr, "line 2, in <module>\n    1/0") {
			t.Errorf("stderr %q", got.Stderr)
		}
	})
}
