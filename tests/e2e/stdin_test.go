//go:build linux

package e2e

import (
	"strings"
	"testing"
)

// TestStdin compares every use of standard input with plain CPython.
func TestStdin(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, p := range []program{
		{name: "read", code: "import sys; print(ascii(sys.stdin.read()), ascii(sys.stdin.read()))", stdin: "a\nb", says: []string{`'a\nb' ''`}},
		{name: "read nothing", code: "import sys; print(ascii(sys.stdin.read()))", says: []string{"''"}},
		{name: "lines", code: "import sys\nfor n, line in enumerate(sys.stdin): print(n, ascii(line))", stdin: "a\nb\r\nc\rd", says: []string{`1 'b\r\n'`}},
		{name: "readline", code: "import sys; print(ascii(sys.stdin.readline()), ascii(sys.stdin.readline(2)), sys.stdin.readlines())", stdin: "a\nbcd\ne\n", says: []string{`'bc' ['d\n', 'e\n']`}},
		{name: "binary", code: "import sys; print(sys.stdin.buffer.read())", stdin: "é\r\n\x00", says: []string{`b'\xc3\xa9\r\n\x00'`}},
		{name: "descriptor", code: "import os; print(os.read(0, 3), os.read(0, 9), os.read(0, 9))", stdin: "abcdef", says: []string{"b'abc' b'def' b''"}},
		{name: "input", code: "print(input('prompt> ') + input())", stdin: "a\nb\n", says: []string{"prompt> ab"}},
		{name: "input without a newline", code: "print(input())\nprint(input())", stdin: "a\nb", says: []string{"a\nb"}},
		{name: "input at the end", code: "print(input())\nprint(input())", stdin: "a\n", exit: 1, says: []string{"EOFError: EOF when reading a line"}},
		{name: "input with nothing", code: "input('Name? ')", exit: 1, says: []string{"Name? ", "EOFError"}},
		{name: "EOFError caught", code: "try:\n    input()\nexcept EOFError:\n    print('end')", says: []string{"end"}},
		{name: "not read", code: "print('ignores it')", stdin: "never read", says: []string{"ignores it"}},
		{name: "child reads", code: "import subprocess; subprocess.run(['wc', '-c'])", stdin: "12345", says: []string{"5"}},
		{name: "child reads the rest", code: "import os, subprocess; print(os.read(0, 2)); subprocess.run(['cat'])", stdin: "ab from the child\n", says: []string{"b'ab'", "from the child"}},
		{name: "forked child reads", code: "import os, sys\nif os.fork() == 0:\n    print('child', input())\n    os._exit(0)\nos.wait()", stdin: "line\n", says: []string{"child line"}},
		{name: "closed", code: "import sys; sys.stdin.close(); print(sys.stdin.closed)", stdin: "x", says: []string{"True"}},
		{name: "closed, then input", code: "import sys; sys.stdin.close(); input()", exit: 1, says: []string{"ValueError"}},
		{name: "replaced", code: "import io, sys; sys.stdin = io.StringIO('mine\\n'); print(input())", stdin: "given", says: []string{"mine"}},
		{name: "select", code: "import select, sys; print(select.select([sys.stdin], [], [], 30)[0] == [sys.stdin], sys.stdin.read())", stdin: "x", says: []string{"True x"}},
		{name: "no terminal", code: "import os, sys; print(sys.stdin.isatty(), os.isatty(0))\ntry:\n    os.ttyname(0)\nexcept OSError as e:\n    print(e)", says: []string{"False False"}},
		{name: "fileinput", code: "import fileinput\nfor line in fileinput.input(): print(fileinput.lineno(), line, end='')", stdin: "a\nb\n", says: []string{"2 b"}},
		{name: "csv", code: "import csv, sys; print(sum(int(row['n']) for row in csv.DictReader(sys.stdin)))", stdin: "n,x\n1,a\n2,b\n", says: []string{"3"}},
		{name: "json", code: "import json, sys; print(json.load(sys.stdin)['é'])", stdin: `{"é": [1]}`, says: []string{"[1]"}},
		{name: "byte order mark", code: "import sys; print(ascii(sys.stdin.read()))", stdin: "\ufeffa", says: []string{`'\ufeffa'`}},
		{name: "universal newlines off", code: "import io, sys; sys.stdin.reconfigure(newline=''); print(ascii(sys.stdin.read()))", stdin: "a\r\nb", says: []string{`'a\r\nb'`}},
		{name: "code.interact", code: "import code; code.interact(banner='', exitmsg='')", stdin: "x = 6\nprint(x * 7)\n", says: []string{"42"}},
		{name: "pdb at the end of input", code: "breakpoint()\nprint('after')", stdin: "p 6*7\nc\n", says: []string{"(Pdb) 42", "after"}},
		{name: "a mebibyte", code: "import hashlib, sys; d = sys.stdin.buffer.read(); print(len(d), hashlib.sha256(d).hexdigest())", stdin: strings.Repeat("0123456789abcde\n", 1<<16), says: []string{"1048576"}},
		{name: "a mebibyte, little of it read", code: "print(input())", stdin: strings.Repeat("0123456789abcde\n", 1<<16), says: []string{"0123456789abcde"}},
	} {
		t.Run(p.name, func(t *testing.T) { s.in(t).compare(p) })
	}
}
