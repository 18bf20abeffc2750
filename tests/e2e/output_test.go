//go:build linux

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

const replacement = "\ufffd"

// TestOutput is what comes back of what was written, under the default cap.
func TestOutput(t *testing.T) {
	s := start(t)
	every := ""
	for b := range 128 {
		every += string(rune(b))
	}
	every += strings.Repeat(replacement, 128)
	for _, tt := range []struct{ name, code, stdout, stderr string }{
		{"every byte", "import os; os.write(1, bytes(range(256)))", every, ""},
		{"every byte on stderr", "import os; os.write(2, bytes(range(256)))", "", every},
		{"split character", "import os, time\nfor b in '€😀'.encode():\n    os.write(1, bytes([b])); time.sleep(0.02)", "€😀", ""},
		{"character in two streams", "import os\nos.write(1, b'\\xe2\\x82'); os.write(2, b'\\xac')", replacement + replacement, replacement},
		{"incomplete at the end", "import os; os.write(1, b'a\\xf0\\x9f\\x98')", "a" + strings.Repeat(replacement, 3), ""},
		{"incomplete, then text", "import os, time\nos.write(1, b'a\\xe2\\x82'); time.sleep(0.1); os.write(1, b'b')", "a" + replacement + replacement + "b", ""},
		{"surrogates in UTF-8", "import os; os.write(1, b'\\xed\\xa0\\x80')", strings.Repeat(replacement, 3), ""},
		{"overlong", "import os; os.write(1, b'\\xc0\\x80\\xe0\\x80\\x80')", strings.Repeat(replacement, 5), ""},
		{"beyond Unicode", "import os; os.write(1, b'\\xf4\\x90\\x80\\x80')", strings.Repeat(replacement, 4), ""},
		{"NUL", `print('a\0b')`, "a\x00b\n", ""},
		{"escaped byte", `print('\udc80')`, replacement + "\n", ""},
		{"lone surrogate, replaced", `import sys; sys.stdout.reconfigure(errors='replace'); print('\ud800')`, "?\n", ""},
		{"lone surrogate on stderr", `import sys; print('\ud800', file=sys.stderr)`, "", "\\ud800\n"},
		{"CRLF stays", `print('a\r\nb\rc')`, "a\r\nb\rc\n", ""},
		{"byte order mark stays", `print('\ufeffa')`, "\ufeffa\n", ""},
		{"no newline", "print('a', end='')", "a", ""},
		{"binary buffer", "import sys; sys.stdout.buffer.write(b'raw\\n'); print('text')", "raw\ntext\n", ""},
		{"child", "import subprocess; print('a', flush=True); subprocess.run('echo b; echo c >&2', shell=True); print('d')", "a\nb\nd\n", "c\n"},
		{"threads", "import threading\nts = [threading.Thread(target=print, args=('line',)) for _ in range(20)]\n[t.start() for t in ts]; [t.join() for t in ts]", strings.Repeat("line\n", 20), ""},
		{"after close(1)", "import os, sys\nprint('before'); os.close(1); print('after', file=sys.stderr)", "before\n", "after\n"},
		{"opened again by name", "open('/dev/stdout', 'w').write('out\\n'); open('/proc/self/fd/2', 'w').write('err\\n')", "out\n", "err\n"},
		{"stderr to stdout", "import os, sys\nos.dup2(1, 2); print('a', file=sys.stderr); print('b')", "a\nb\n", ""},
		{"both past a pipe buffer", "import sys\nfor _ in range(200):\n    print('x' * 999); print('y' * 999, file=sys.stderr)", strings.Repeat(strings.Repeat("x", 999)+"\n", 200), strings.Repeat(strings.Repeat("y", 999)+"\n", 200)},
		{"one after the other past a pipe buffer", "import os\nfor fd in (2, 1): os.write(fd, b'z' * 300_000)", strings.Repeat("z", 300_000), strings.Repeat("z", 300_000)},
		{"framing", `print('{"event":"exit"}\n{"jsonrpc":"2.0","id":1,"result":{}}\nContent-Length: 5\r\n\r\n')`, "{\"event\":\"exit\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nContent-Length: 5\r\n\r\n\n", ""},
		{"writer killed in the middle", "import os, time\nos.write(1, b'all of it'); os.kill(os.getpid(), 9)", "all of it", ""},
		{"a full pipe and the end", "import os; os.write(1, b'e' * 65536); os._exit(0)", strings.Repeat("e", 65536), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.in(t).run(tt.code)
			if got.Stdout != tt.stdout || got.Stderr != tt.stderr {
				t.Errorf("stdout %.200q, stderr %.200q; want %.200q, %.200q", got.Stdout, got.Stderr, tt.stdout, tt.stderr)
			}
			if got.Truncated || got.TimedOut {
				t.Errorf("cut or timed out: %+v", got)
			}
		})
	}
}

// TestOutputDaemon: what is written after the main program's end is nobody's.
func TestOutputDaemon(t *testing.T) {
	t.Parallel()
	got := start(t).run(`
import os, time
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(1, b"daemon has started\n")
        os.close(writer)
        time.sleep(300)
        os.write(1, b"too late\n")
    os._exit(0)
os.close(writer)
os.read(reader, 1)
print("main ends")
`)
	if got.Stdout != "daemon has started\nmain ends\n" || got.TimedOut {
		t.Errorf("%+v", got)
	}
}

// write is a program that writes so many bytes to each stream.
func write(out, err int) string {
	return fmt.Sprintf("import os\ndef w(fd, n):\n    while n: n -= os.write(fd, b'%%d' %% fd * n)\nw(2, %d)\nw(1, %d)", err, out)
}

// TestCap: the cap counts both streams, stderr keeps its last bytes, stdout its
// first, and what one leaves the other gets.
func TestCap(t *testing.T) {
	type want struct{ out, err int }
	for _, tt := range []struct {
		cap  int
		runs map[want]want // bytes written: bytes kept
	}{
		{1, map[want]want{{0, 0}: {0, 0}, {1, 0}: {1, 0}, {2, 0}: {1, 0}, {0, 2}: {0, 1}, {5, 5}: {1, 0}}},
		{5, map[want]want{{5, 0}: {5, 0}, {6, 0}: {5, 0}, {3, 2}: {3, 2}, {2, 9}: {2, 3}, {9, 9}: {4, 1}}},
		{100, map[want]want{{100, 0}: {100, 0}, {101, 0}: {100, 0}, {0, 101}: {0, 100}, {75, 25}: {75, 25}, {80, 30}: {75, 25},
			{90, 10}: {90, 10}, {95, 10}: {90, 10}, {60, 50}: {60, 40}, {1000, 1000}: {75, 25}}},
		{400_000, map[want]want{{400_000, 0}: {400_000, 0}, {500_000, 500_000}: {334_464, 65_536}, {500_000, 80_000}: {334_464, 65_536},
			{0, 500_000}: {0, 400_000}, {300_000, 500_000}: {300_000, 100_000}}},
		{1 << 20, map[want]want{{1 << 20, 0}: {1 << 20, 0}, {1<<20 + 1, 0}: {1 << 20, 0}, {0, 1 << 20}: {0, 1 << 20}, {0, 1<<20 + 1}: {0, 1 << 20},
			{1<<20 - 1, 1}: {1<<20 - 1, 1}, {1 << 20, 1}: {1<<20 - 1, 1}, {3 << 20, 3 << 20}: {983_040, 65_536}}},
	} {
		t.Run(fmt.Sprint(tt.cap), func(t *testing.T) {
			s := start(t, fmt.Sprintf("MCP_EXEC_MAX_OUTPUT_BYTES=%d", tt.cap))
			for wrote, kept := range tt.runs {
				got := s.run(write(wrote.out, wrote.err))
				if have := (want{len(got.Stdout), len(got.Stderr)}); have != kept {
					t.Errorf("of %+v kept %+v, want %+v", wrote, have, kept)
				}
				checkCut(t, got, int64(wrote.out+wrote.err))
			}
		})
	}
}

// checkCut holds truncated and the note to each other and to what was written.
func checkCut(t *testing.T, got result, wrote int64) {
	t.Helper()
	kept := int64(len(got.Stdout) + len(got.Stderr))
	note := ""
	switch {
	case kept < wrote:
		note = fmt.Sprintf("output_cut: kept %s of %s bytes", commas(kept), commas(wrote))
	case wrote == 0:
		note = "no_output: nothing was printed; use print() to see a value"
	}
	if got.Truncated != (kept < wrote) || got.Note != note {
		t.Errorf("truncated %v, note %q; want %v, %q", got.Truncated, got.Note, kept < wrote, note)
	}
}

func commas(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// TestCapCharacters: a cut never splits a character, and replaced bytes count
// as what they have become.
func TestCapCharacters(t *testing.T) {
	s := start(t, "MCP_EXEC_MAX_OUTPUT_BYTES=8")
	for _, tt := range []struct {
		code, stdout, stderr string
		wrote                int64
	}{
		{"print('abc€€', end='')", "abc€", "", 9},
		{"print('abcd€€', end='')", "abcd€", "", 10},
		{"print('😀😀😀', end='')", "😀😀", "", 12},
		{"print('a😀😀', end='')", "a😀", "", 9},
		{"import os; os.write(1, b'a' + b'\\xff' * 3)", "a" + replacement + replacement, "", 10},
		{"import os; os.write(1, b'\\xff' * 1000)", replacement + replacement, "", 3000},
		{"import os; os.write(2, b'\\xff' * 1000)", "", replacement + replacement, 3000},
		{"import os; os.write(2, '€€€'.encode())", "", "€€", 9},
		{"import os; os.write(2, 'ab€€c'.encode())", "", "b€€c", 9},
		{"import os; os.write(2, '1234€'.encode()); os.write(1, b'abcdefghi')", "abcdefgh", "", 16},
		{"import os; os.write(2, '1234é'.encode()); os.write(1, b'abcdefghi')", "abcdef", "é", 15},
		{"import os; os.write(1, 'abcdefg€'.encode())", "abcdefg", "", 10},
		{"import os; os.write(1, 'abcdefg'.encode() + b'\\xe2')", "abcdefg", "", 10},
	} {
		t.Run(tt.code, func(t *testing.T) {
			got := s.in(t).run(tt.code)
			if got.Stdout != tt.stdout || got.Stderr != tt.stderr {
				t.Errorf("kept %q and %q, want %q and %q", got.Stdout, got.Stderr, tt.stdout, tt.stderr)
			}
			checkCut(t, got, tt.wrote)
		})
	}
}

// TestFlood: without an end, on one stream or both; the traceback survives it.
func TestFlood(t *testing.T) {
	s := start(t)
	const mebibyte = 1 << 20
	for _, tt := range []struct {
		name, code string
		timedOut   bool
		stderr     string
	}{
		{"stdout, then an exception", "for _ in range(4000): print('x' * 999)\nraise ValueError('seen')", false, "ValueError: seen\n"},
		{"both, then an exception", "import sys\nfor _ in range(3000): print('x' * 999); print('y' * 999, file=sys.stderr)\nraise ValueError('seen')", false, "ValueError: seen\n"},
		{"stdout for ever", "import sys\nsys.stderr.write('why\\n')\nwhile True: print('x' * 9999)", true, "why\n"},
		{"both for ever", "import os\nwhile True: os.write(1, b'\\xff' * 65536); os.write(2, b'\\xe2\\x82' * 9999)", true, ""},
		{"characters for ever", "import os\nx = '€😀é'.encode() * 9999\nwhile True: os.write(1, x)", true, ""},
		{"children for ever", "import subprocess, sys\nps = [subprocess.Popen(['yes', 'x' * 5000], stderr=1) for _ in range(3)]\nps[0].wait()", true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			timeout := 60
			if tt.timedOut {
				timeout = 1
			}
			got := s.in(t).call(args{"code": tt.code, "timeout_s": timeout})
			kept := len(got.Stdout) + len(got.Stderr)
			if !got.Truncated || got.TimedOut != tt.timedOut || kept > mebibyte || kept < mebibyte-6 {
				t.Errorf("truncated %v, timed out %v, kept %d bytes", got.Truncated, got.TimedOut, kept)
			}
			if !strings.HasSuffix(got.Stderr, tt.stderr) || !utf8.ValidString(got.Stdout+got.Stderr) {
				t.Errorf("stderr ends in %q, want %q", got.Stderr[max(0, len(got.Stderr)-60):], tt.stderr)
			}
			if !strings.HasPrefix(got.Note, "output_cut: kept "+commas(int64(kept))+" of ") {
				t.Errorf("note %q", got.Note)
			}
		})
	}
	if got := s.run("print('next')"); got.Stdout != "next\n" {
		t.Errorf("after the floods: %+v", got)
	}
}
