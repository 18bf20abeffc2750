//go:build linux

package e2e

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// refusedByItself are programs that want something of their own host. One that has a
// network of its own finds that nobody listens there, as anywhere.
var refusedByItself = map[string]bool{"http.client": true, "smtplib": true}

// TestNotes has every code with its triggers, and what stands before what.
func TestNotes(t *testing.T) {
	t.Parallel()
	s := start(t)
	seen := map[string]bool{}
	for _, tt := range []struct {
		name, code string
		timeout    int
		note       string // the whole note, or its beginning up to an ellipsis
	}{
		{"nothing printed", "x = 1", 0, "no_output: nothing was printed; use print() to see a value"},
		{"expression", "sum(range(10))", 0, "no_output: nothing was printed; use print() to see a value"},
		{"only in a file", "open('x', 'w').write('x')", 0, "no_output: …"},
		{"exit 0", "import sys; sys.exit(0)", 0, "no_output: …"},
		{"os._exit 0", "import os; os._exit(0)", 0, "no_output: …"},

		{"missing module", "import not_installed_here", 0, "missing_module: …"},
		{"missing submodule", "import json.no_such_part", 0, "missing_module: …"},
		{"missing in a function", "def f():\n    import requests\nf()", 0, "missing_module: …"},
		{"missing behind another exception", "try:\n    import requests\nexcept ImportError as e:\n    raise RuntimeError('please install') from e", 0, "missing_module: …"},
		{"missing while handling", "try:\n    import requests\nexcept ImportError:\n    fallback()", 0, "missing_module: …"},
		{"before the cut", "print('x' * 2_000_000)\nimport not_installed_here", 0, "missing_module: …"},

		{"MemoryError", "x = bytearray(1 << 40)", 0, "memory_limit: an allocation failed; the limit is …"},
		{"numpy's MemoryError", "import numpy; numpy.ones((1 << 20, 1 << 20))", 0, "memory_limit: …"},
		{"ENOMEM", "import mmap; mmap.mmap(-1, 1 << 44)", 0, "memory_limit: …"},
		{"touched memory", "x = []\nwhile True: x.append(b'x' * 1_000_000 + str(len(x)).encode())", 60, "memory_limit: …"},

		{"threads", "import threading, time\nfor _ in range(5000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", 60, "process_limit: …"},
		{"processes", "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)", 60, "process_limit: …"},

		{"ENOSPC", "while True: open(str(len(__import__('os').listdir())), 'wb').write(b'x' * (1 << 20))", 60, "disk_full: files may take …"},
		{"file too large", "import os\nos.truncate(os.open('x', os.O_CREAT | os.O_RDWR), 1 << 40)", 0, "disk_full: …"},

		{"socket", "import socket; socket.create_connection(('192.0.2.1', 80), 5)", 0, "no_network: …"},
		{"name", "import socket; socket.getaddrinfo('example.com', 80)", 0, "no_network: …"},
		{"urllib", "import urllib.request; urllib.request.urlopen('http://example.com')", 0, "no_network: …"},
		{"urllib https", "import urllib.request; urllib.request.urlopen('https://192.0.2.1/')", 0, "no_network: …"},
		{"http.client", "import http.client; http.client.HTTPConnection('127.0.0.1', 9).request('GET', '/')", 0, "no_network: …"},
		{"asyncio", "import asyncio; asyncio.run(asyncio.open_connection('192.0.2.1', 80))", 0, "no_network: …"},
		{"pandas", "import pandas; pandas.read_csv('http://example.com/x.csv')", 0, "no_network: …"},
		{"smtplib", "import smtplib; smtplib.SMTP('localhost')", 0, "no_network: …"},

		{"SIGSEGV", "import ctypes; ctypes.string_at(0)", 0, "killed_signal: ended by signal 11 (SIGSEGV)"},
		{"abort", "import os; os.abort()", 0, "killed_signal: ended by signal 6 (SIGABRT)"},
		{"own SIGKILL", "import os; os.kill(os.getpid(), 9)", 0, "killed_signal: ended by signal 9 (SIGKILL)"},
		{"KeyboardInterrupt", "raise KeyboardInterrupt", 0, "killed_signal: ended by signal 2 (SIGINT)"},
		{"real time", "import signal; signal.raise_signal(signal.SIGRTMIN)", 0, "killed_signal: ended by signal 34 (real-time signal)"},
		{"signal before the cut", "import os; print('x' * 2_000_000); os.abort()", 0, "killed_signal: …"},

		{"cut", "print('x' * 2_000_000)", 0, "output_cut: kept 1,048,576 of 2,000,001 bytes"},
		{"cut and exit 1", "import sys; print('x' * 2_000_000); sys.exit(1)", 0, "output_cut: …"},
		{"cut and exception", "print('x' * 2_000_000); 1/0", 0, "output_cut: …"},
		{"cut and timeout", "while True: print('x' * 9999)", 1, "output_cut: …"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.in(t).call(args{"code": tt.code, "timeout_s": tt.timeout})
			if refusedByItself[tt.name] && s.place(t).is(t, "namespaces") {
				tt.note = ""
			}
			want, part := strings.CutSuffix(tt.note, "…")
			if got.Note != want && !(part && strings.HasPrefix(got.Note, want)) {
				t.Errorf("note %q, want %q (exit %d, stderr %.600q)", got.Note, tt.note, got.ExitCode, got.Stderr)
			}
			code, _, _ := strings.Cut(got.Note, ":")
			seen[code] = true
		})
	}
	t.Run("cpu_limit", func(t *testing.T) { seen[testCPULimit(t, s)] = true })
	for _, row := range documented(t) {
		if !seen[row.code] {
			t.Errorf("docs/notes.md has %s, and no program here leads to it", row.code)
		}
	}
}

// testCPULimit burns all processors there are in one process. With two or more
// it meets its processor time before the wall clock, with one it can't: what it
// printed last says which of the two had to come.
func testCPULimit(t *testing.T, s *server) (code string) {
	got := s.in(t).call(args{"timeout_s": 4, "code": `
import hashlib, threading, time
def burn():
    block = bytes(1 << 20)
    while True: hashlib.sha256(block)
for _ in range(4): threading.Thread(target=burn, daemon=True).start()
while True:
    time.sleep(0.02)
    print(time.process_time())
`})
	lines := strings.Fields(got.Stdout)
	if len(lines) == 0 {
		t.Fatalf("%+v", got)
	}
	used, err := strconv.ParseFloat(lines[len(lines)-1], 64)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 5 // a second more than the timeout
	if used > limit+0.5 {
		t.Errorf("used %v s of processor time, limit %d", used, limit)
	}
	if got.TimedOut {
		if used > limit {
			t.Errorf("timed out after %v s of processor time, limit %d", used, limit)
		}
	} else if got.Note != "cpu_limit: killed after more processor time than its timeout" || got.ExitCode != 137 || used < limit-0.5 {
		t.Errorf("after %v s of processor time: exit %d, note %q", used, got.ExitCode, got.Note)
	}
	return "cpu_limit"
}

// TestNoNote: what a program prints, catches or chooses as its status is no
// reason for a note.
func TestNoNote(t *testing.T) {
	s := start(t)
	for _, tt := range []struct{ name, code string }{
		{"prints the word", "print('MemoryError')"},
		{"prints a note", "print('memory_limit: killed at 256 MiB')"},
		{"prints a traceback", "import sys\nsys.stderr.write('Traceback (most recent call last):\\nMemoryError\\n')\nsys.exit(1)"},
		{"prints a missing module", "import sys\nsys.exit(\"ModuleNotFoundError: No module named 'x'\")"},
		{"exception that speaks of it", "raise ValueError('MemoryError: no module named x, No space left on device')"},
		{"exit 137", "import sys; sys.exit(137)"},
		{"exit 1 without output", "import sys; sys.exit(1)"},
		{"exit 139 by os._exit", "import os; os._exit(139)"},
		{"caught MemoryError", "try:\n    bytearray(1 << 40)\nexcept MemoryError:\n    print('caught')"},
		{"caught missing module", "try:\n    import requests\nexcept ImportError:\n    print('caught')"},
		{"caught, then exit 1", "import sys\ntry:\n    import requests\nexcept ImportError:\n    sys.exit(1)"},
		{"caught, another one suppressed", "try:\n    import requests\nexcept ImportError:\n    raise ValueError('own') from None"},
		{"caught network", "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80))\nexcept OSError:\n    print('caught')"},
		{"in a thread", "import threading\nt = threading.Thread(target=lambda: bytearray(1 << 40)); t.start(); t.join()"},
		{"in a child", "import os\nif os.fork() == 0:\n    import requests\nos.wait(); print('parent')"},
		{"child killed", "import subprocess\nprint(subprocess.run(['sh', '-c', 'kill -9 $$']).returncode)"},
		{"only stderr", "import sys; print('x', file=sys.stderr)"},
		{"a newline", "print()"},
		{"plain failure", "1/0"},
		{"file not found", "open('nope')"},
		{"permission", "open('/etc/passwd2', 'w')"},
		{"ImportError of another kind", "from json import nothing_like_it"},
		{"would block", "import os; r, w = os.pipe(); os.set_blocking(r, False); os.read(r, 1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.in(t).run(tt.code); got.Note != "" {
				t.Errorf("note %q (exit %d, stderr %.300q), want none", got.Note, got.ExitCode, got.Stderr)
			}
		})
	}
}

// TestMissingModuleNote names what there is.
func TestMissingModuleNote(t *testing.T) {
	t.Parallel()
	s := start(t)
	got := s.run("import requests")
	for _, m := range installed(t, s) {
		if !strings.Contains(got.Note, m.Name) {
			t.Errorf("note %q does not name %s", got.Note, m.Name)
		}
	}
}

// noteRow is a line of the table in docs/notes.md.
type noteRow struct{ code, trigger, precedence string }

func documented(t *testing.T) (rows []noteRow) {
	t.Helper()
	text, err := os.ReadFile("../../docs/notes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (.+) \\| (.+) \\|$").FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, noteRow{m[1], m[2], m[3]})
	}
	if len(rows) == 0 {
		t.Fatal("docs/notes.md has no table")
	}
	return rows
}

// TestNotesDocument holds the document to the code: the same codes, no other.
func TestNotesDocument(t *testing.T) {
	source, err := os.ReadFile("../../internal/pool/note.go")
	if err != nil {
		t.Fatal(err)
	}
	var inCode, inDocument []string
	for _, m := range regexp.MustCompile(`"([a-z]+_[a-z]+): `).FindAllStringSubmatch(string(source), -1) {
		inCode = append(inCode, m[1])
	}
	for _, row := range documented(t) {
		inDocument = append(inDocument, row.code)
	}
	slices.Sort(inCode)
	slices.Sort(inDocument)
	inCode, inDocument = slices.Compact(inCode), slices.Compact(inDocument)
	if !slices.Equal(inCode, inDocument) {
		t.Errorf("docs/notes.md has %q, internal/pool/note.go %q", inDocument, inCode)
	}
	want := []string{"cpu_limit", "disk_full", "killed_signal", "memory_limit", "missing_module", "no_network", "no_output", "output_cut", "process_limit"}
	if !slices.Equal(inCode, want) {
		t.Errorf("the contract's codes are %q, the program has %q", want, inCode)
	}
}
