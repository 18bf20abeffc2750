//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// specimen is a hostile program: a file of testdata whose header says what must
// come of it, in lines that begin with "# want: ", or with "# want CONDITIONS: " what
// must where these hold.
type specimen struct {
	name, code string
	wants      []want
	timeout    int // seconds
}

type want struct{ where, clauses string }

// specimens reads a directory. Its prelude.py, if any, comes before each.
func specimens(t testing.TB, dir string) []specimen {
	t.Helper()
	prelude, _ := os.ReadFile(filepath.Join("testdata", dir, "prelude.py"))
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.py"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("programs in %s: %v, %v", dir, paths, err)
	}
	var all []specimen
	for _, path := range paths {
		if filepath.Base(path) == "prelude.py" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, newSpecimen(t, path, string(prelude), string(text)))
	}
	return all
}

func newSpecimen(t testing.TB, path, prelude, text string) specimen {
	t.Helper()
	p := specimen{name: strings.TrimSuffix(filepath.Base(path), ".py"), code: prelude + text, timeout: 60}
	for line := range strings.Lines(text) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "# want"); ok {
			where, clauses, _ := strings.Cut(text, ": ")
			p.wants = append(p.wants, want{where, clauses})
		}
	}
	if len(p.wants) == 0 {
		t.Fatalf("%s: no line that begins with # want", path)
	}
	for _, want := range p.wants {
		if strings.HasPrefix(want.clauses, "timed out") {
			p.timeout = 1
		}
	}
	return p
}

// run runs it, checks what came of it, and that nothing of it is left.
func (p specimen) run(t *testing.T, s *server) {
	t.Helper()
	res := s.call(args{"code": p.code, "timeout_s": p.timeout})
	p.compare(t, s.place(t), res)
	if t.Failed() {
		t.Log(res.brief())
	}
	s.clean(t)
}

// compare checks all that must be where it has run.
func (p specimen) compare(t *testing.T, here place, res result) {
	t.Helper()
	for _, want := range p.wants {
		if here.is(t, want.where) {
			p.check(t, want.clauses, res)
		}
	}
}

// check tests one want: clauses separated by bars, of which one must hold.
func (p specimen) check(t *testing.T, want string, res result) {
	t.Helper()
	verb := ""
	for clause := range strings.SplitSeq(want, "|") {
		first, argument, spaced := strings.Cut(clause, " ")
		if !spaced && verb != "" { // "exit 1|137"
			first, argument = verb, clause
		}
		verb = first
		if holds(t, verb, argument, res) {
			return
		}
	}
	t.Errorf("want %s", want)
}

func holds(t *testing.T, verb, argument string, res result) bool {
	t.Helper()
	switch verb {
	case "any":
		return !res.TimedOut
	case "exit":
		return strconv.Itoa(res.ExitCode) == argument && !res.TimedOut
	case "timed":
		return res.TimedOut && res.ExitCode == -1
	case "note":
		return strings.HasPrefix(res.Note, argument+":")
	case "truncated":
		return res.Truncated
	case "stdout":
		return res.Stdout == unquote(t, argument)
	case "stderr": // a part of it
		return strings.Contains(res.Stderr, unquote(t, argument))
	}
	t.Fatalf("unknown want %q", verb)
	return false
}

func unquote(t *testing.T, text string) string {
	t.Helper()
	out, err := strconv.Unquote(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// What the next program sees of those before it: files in the two directories
// that programs write to, and processes.
const lookAround = `
import os
for top in {os.path.realpath("/tmp"), "/dev/shm"}:
    for name in os.listdir(top):
        if name not in (os.path.basename(os.getcwd()), ".matplotlib"):
            print(os.path.join(top, name))
for pid in os.listdir("/proc"):
    try:
        with open(f"/proc/{pid}/comm") as comm:
            name = comm.read().strip()
    except OSError:
        continue
    if name in ("straggler", "sleep", "sh"):
        print("process", name)
print("looked")
`

// clean fails the test when anything of an earlier run is left, or the server
// does not run the next program.
func (s *server) clean(t testing.TB) {
	t.Helper()
	if got := s.run(lookAround); got.Stdout != "looked\n" || got.ExitCode != 0 || got.Stderr != "" {
		t.Errorf("left over: %s", got.brief())
	}
	s.noProcessLeft(t)
}

// brief is a result without floods.
func (r result) brief() string {
	cut := func(text string) string { return text[:min(len(text), 1000)] }
	r.Stdout, r.Stderr = cut(r.Stdout), cut(r.Stderr)
	return fmt.Sprintf("%+v", r)
}
