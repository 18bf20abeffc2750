package pool

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOutputSplit(t *testing.T) {
	const bom = "\uFFFD"
	many := strings.Repeat
	tests := []struct {
		name      string
		cap       int
		out, err  string
		wantOut   string
		wantErr   string
		wantCut   bool
		wantTotal int64
	}{
		{"nothing", 100, "", "", "", "", false, 0},
		{"below the cap", 100, "abc", "def", "abc", "def", false, 6},
		{"exactly the cap", 6, "abc", "def", "abc", "def", false, 6},
		{"stdout keeps its first bytes", 4, "abcdef", "", "abcd", "", true, 6},
		{"stderr alone keeps its last bytes", 4, "", "abcdef", "", "cdef", true, 6},
		{"a flood leaves stderr a quarter", 8, many("o", 99), "abcdef", many("o", 6), "ef", true, 105},
		{"stderr gets what stdout leaves", 8, "ab", "123456789", "ab", "456789", true, 11},
		{"stdout gets what stderr leaves", 8, many("o", 99), "e", many("o", 7), "e", true, 100},
		{"cut before a character that does not fit", 5, "abc€€", "", "abc", "", true, 9},
		{"stderr cut after a character that does not fit", 4, "", "€€", "", "€", true, 6},
		{"invalid bytes count as they are shown", 7, "\xff\xfe\xfd", "", bom + bom, "", true, 9},
		{"an incomplete character at the end", 100, "a\xe2\x82", "", "a" + bom + bom, "", false, 7},
		{"cap of one byte", 1, "€", "e", "", "e", true, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOutput(tt.cap)
			_, _ = o.stdout.Write([]byte(tt.out))
			_, _ = o.stderr.Write([]byte(tt.err))
			out, err, cut := o.split()
			if out != tt.wantOut || err != tt.wantErr || cut != tt.wantCut || o.total() != tt.wantTotal {
				t.Errorf("split() = %q, %q, %t of %d, want %q, %q, %t of %d", out, err, cut, o.total(),
					tt.wantOut, tt.wantErr, tt.wantCut, tt.wantTotal)
			}
		})
	}
}

// A character that arrives in two reads is one character.
func TestCaptureJoinsReads(t *testing.T) {
	text := "a€😀\xff€"
	for size := 1; size < len(text); size++ {
		c := capture{limit: 100}
		for part := range splitBytes([]byte(text), size) {
			_, _ = c.Write(part)
		}
		c.Close()
		if got, want := string(c.kept), "a€😀\uFFFD€"; got != want {
			t.Errorf("in reads of %d bytes: %q, want %q", size, got, want)
		}
	}
}

func splitBytes(p []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(p) > 0 {
			n := min(size, len(p))
			if !yield(p[:n]) {
				return
			}
			p = p[n:]
		}
	}
}

func TestCaptureIsBounded(t *testing.T) {
	for _, tail := range []bool{false, true} {
		c := capture{limit: 1000, tail: tail}
		for range 1000 {
			_, _ = c.Write(bytes.Repeat([]byte("x"), 64<<10))
		}
		if cap(c.kept) > 1<<20 {
			t.Errorf("tail %t: %d bytes held for a limit of 1000", tail, cap(c.kept))
		}
		if c.total != 1000*64<<10 {
			t.Errorf("tail %t: total %d", tail, c.total)
		}
	}
}

// failing counts what it is asked to write, and fails at the second time.
type failing struct{ writes int }

func (f *failing) Write(b []byte) (int, error) {
	f.writes++
	if f.writes > 1 {
		return 0, errors.New("gone")
	}
	return len(b), nil
}

// A reader that is gone is written to no more; the program does not learn of it.
func TestPassage(t *testing.T) {
	o, to := newOutput(100), &failing{}
	w := o.divert(to, &o.stdout)
	for range 4 {
		if n, err := w.Write([]byte("abc")); n != 3 || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	if out, _, cut := o.split(); to.writes != 2 || o.passed.Load() != 12 || out != "" || cut {
		t.Errorf("%d writes, %d bytes passed, kept %q, cut %t; want 2, 12, nothing", to.writes, o.passed.Load(), out, cut)
	}
	if w := o.divert(nil, &o.stderr); w != &o.stderr {
		t.Errorf("without a writer to pass on to: %v", w)
	}
}

func FuzzOutput(f *testing.F) {
	f.Add(5, []byte("abc€€"), []byte("\xff\xe2\x82"), 2)
	f.Add(64, []byte(strings.Repeat("o", 200)), []byte("traceback"), 7)
	f.Fuzz(func(t *testing.T, limit int, stdout, stderr []byte, read int) {
		limit, read = 1+abs(limit)%4096, 1+abs(read)%64
		o := newOutput(limit)
		for part := range splitBytes(stdout, read) {
			_, _ = o.stdout.Write(part)
		}
		for part := range splitBytes(stderr, read) {
			_, _ = o.stderr.Write(part)
		}
		out, err, cut := o.split()
		wantOut, wantErr := replaced(stdout), replaced(stderr)
		switch {
		case !utf8.ValidString(out) || !utf8.ValidString(err):
			t.Errorf("not UTF-8: %q, %q", out, err)
		case len(out)+len(err) > limit:
			t.Errorf("%d bytes, cap %d", len(out)+len(err), limit)
		case !strings.HasPrefix(wantOut, out):
			t.Errorf("stdout %q is not the beginning of %q", out, wantOut)
		case !strings.HasSuffix(wantErr, err):
			t.Errorf("stderr %q is not the end of %q", err, wantErr)
		case cut != (out != wantOut || err != wantErr):
			t.Errorf("cut = %t", cut)
		case len(wantErr) >= utf8.UTFMax && len(err) < min(len(wantErr), limit/4, maxReserve)-utf8.UTFMax:
			t.Errorf("stderr got %d bytes of its reserve", len(err))
		}
	})
}

// replaced is the slow and plain way to say what a stream should read as.
func replaced(p []byte) string {
	var out strings.Builder
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		out.WriteRune(r)
		p = p[size:]
	}
	return out.String()
}

func abs(n int) int { return max(n, -n, 0) }
