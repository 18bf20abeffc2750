package pool

import (
	"io"
	"sync/atomic"
	"unicode/utf8"
)

// replacement is what an invalid byte becomes: U+FFFD.
const replacement = "\uFFFD"

// maxReserve bounds what a flood on stdout must leave to stderr.
const maxReserve = 64 << 10

// capture keeps part of one stream as valid UTF-8, in bounded memory: the first
// or the last bytes of it, whatever comes.
type capture struct {
	limit int    // bytes kept
	tail  bool   // the last ones rather than the first
	kept  []byte // up to limit, with tail up to 2*limit between two trims
	rest  []byte // an incomplete character at the end of what was written
	total int64  // bytes of the whole stream, after replacement
}

// Write never fails: what is over the limit is counted and dropped.
func (c *capture) Write(p []byte) (int, error) {
	written := len(p)
	if len(c.rest) > 0 {
		p = append(c.rest, p...)
		c.rest = nil
	}
	for len(p) > 0 {
		n := validPrefix(p)
		c.keep(p[:n])
		p = p[n:]
		if len(p) == 0 {
			break
		}
		if !utf8.FullRune(p) {
			c.rest = append([]byte(nil), p...)
			break
		}
		c.keep([]byte(replacement))
		p = p[1:]
	}
	return written, nil
}

// Close ends the stream: an incomplete character is invalid bytes.
func (c *capture) Close() {
	for range c.rest {
		c.keep([]byte(replacement))
	}
	c.rest = nil
}

// validPrefix is the length of the longest prefix of whole, valid characters.
func validPrefix(p []byte) int {
	n := 0
	for n < len(p) {
		if p[n] < utf8.RuneSelf {
			n++
			continue
		}
		r, size := utf8.DecodeRune(p[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

func (c *capture) keep(p []byte) {
	c.total += int64(len(p))
	if !c.tail {
		p = p[:min(len(p), max(0, c.limit-len(c.kept)))]
	}
	c.kept = append(c.kept, p...)
	if c.tail && len(c.kept) > 2*c.limit {
		c.kept = append(c.kept[:0], c.kept[len(c.kept)-c.limit:]...)
	}
}

// first is the longest run of whole characters in the first n bytes.
func first(p []byte, n int) []byte {
	n = min(n, len(p))
	for n > 0 && n < len(p) && !utf8.RuneStart(p[n]) {
		n--
	}
	return wholeEnd(p[:n])
}

// wholeEnd drops a character that the limit of a capture has cut.
func wholeEnd(p []byte) []byte {
	for back := 1; back <= min(utf8.UTFMax, len(p)); back++ {
		if utf8.RuneStart(p[len(p)-back]) {
			if !utf8.FullRune(p[len(p)-back:]) {
				return p[:len(p)-back]
			}
			return p
		}
	}
	return p
}

// last is the longest run of whole characters in the last n bytes.
func last(p []byte, n int) []byte {
	p = p[max(0, len(p)-n):]
	for len(p) > 0 && !utf8.RuneStart(p[0]) {
		p = p[1:]
	}
	return p
}

// output is both streams of a run under one cap.
type output struct {
	cap            int
	stdout, stderr capture
	passed         atomic.Int64 // bytes that were passed on instead
}

func newOutput(limit int) *output {
	return &output{cap: limit, stdout: capture{limit: limit}, stderr: capture{limit: limit, tail: true}}
}

// split shares the cap: stderr's last bytes up to its reserve first, then
// stdout's first bytes, and what one leaves the other gets.
func (o *output) split() (stdout, stderr string, cut bool) {
	o.stdout.Close()
	o.stderr.Close()
	reserve := min(o.cap/4, maxReserve)
	forErr := max(reserve, o.cap-int(min(o.stdout.total, int64(o.cap))))
	keptErr := last(o.stderr.kept, forErr)
	keptOut := first(o.stdout.kept, o.cap-len(keptErr))
	keptErr = last(o.stderr.kept, o.cap-len(keptOut)) // a cut character may have left some bytes
	return string(keptOut), string(keptErr), int64(len(keptOut)+len(keptErr)) < o.total()
}

func (o *output) total() int64 { return o.stdout.total + o.stderr.total }

// passage hands a stream on as it comes.
type passage struct {
	to     io.Writer
	passed *atomic.Int64
	failed bool
}

// Write never fails. What comes after a failure is dropped: a program does not
// wait for a reader that is gone.
func (p *passage) Write(b []byte) (int, error) {
	p.passed.Add(int64(len(b)))
	if !p.failed && len(b) > 0 {
		_, err := p.to.Write(b)
		p.failed = err != nil
	}
	return len(b), nil
}

// divert is where a stream goes: on to w or, where that is nil, into its capture.
func (o *output) divert(w io.Writer, c *capture) io.Writer {
	if w == nil {
		return c
	}
	return &passage{to: w, passed: &o.passed}
}
