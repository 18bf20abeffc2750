//go:build linux

package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// isolationEnv pins the posture of every server that the suite starts.
const isolationEnv = "MCP_EXEC_ISOLATION"

// place is where a server's programs run, as the server's own log says. What a
// program meets differs by it, and each test says in its data how: see is.
type place struct {
	posture string
	abi     int // of Landlock; 0: without
	docker  bool
	root    bool // the server is
}

var readyLine = regexp.MustCompile(`msg="sandbox ready" posture=(\S+) level="?([^"]*)`)

// place waits for the server to name its posture, which must be the one asked for.
func (s *server) place(t testing.TB) place {
	t.Helper()
	eventually(t, "the log names the posture", func() bool { return readyLine.MatchString(s.log.String()) })
	found := readyLine.FindStringSubmatch(s.log.String())
	if found == nil {
		t.Fatalf("no posture in the log:\n%s", s.log)
	}
	p := place{posture: found[1], docker: inContainer(), root: os.Geteuid() == 0 && !inContainer()}
	if abi := regexp.MustCompile(`Landlock ABI (\d+)`).FindStringSubmatch(found[2]); abi != nil {
		p.abi, _ = strconv.Atoi(abi[1])
	}
	return p
}

// wanted is the posture that the suite must find: the one that is asked for, or
// the strongest that the place gives. A weaker one is never taken for it.
func wanted() string {
	isolation := os.Getenv(isolationEnv)
	switch {
	case isolation != "" && isolation != "auto":
		return isolation
	case inContainer():
		return "landlock"
	}
	return "namespaces"
}

// TestPosture: else all of the suite would be shown of another posture or level.
func TestPosture(t *testing.T) {
	s := start(t)
	p := s.place(t)
	if p.posture != wanted() {
		t.Errorf("the posture is %s, want %s", p.posture, wanted())
	}
	if p.posture != "container" && os.Getenv(maskEnv) == "" && p.is(t, "kernel>=6.12 abi<6") {
		t.Errorf("the level is that of Landlock ABI %d, want 6 or later", p.abi)
	}
	testRefer(t, s)
}

// is reports whether all the words hold: a posture; docker or natively; root or
// user, of the server; "abi<6", "kernel<6.9".
func (p place) is(t testing.TB, words string) bool {
	t.Helper()
	for word := range strings.FieldsSeq(words) {
		if !p.holds(t, word) {
			return false
		}
	}
	return true
}

func (p place) holds(t testing.TB, word string) bool {
	t.Helper()
	switch word {
	case "namespaces", "landlock", "container":
		return p.posture == word
	case "docker":
		return p.docker
	case "natively":
		return !p.docker
	case "root":
		return p.root
	case "user":
		return !p.root
	}
	for what, have := range map[string][2]int{"abi": {p.abi, 0}, "kernel": kernel(t)} {
		if limit, ok := strings.CutPrefix(word, what+"<"); ok {
			return older(have, version(t, limit))
		}
		if limit, ok := strings.CutPrefix(word, what+">="); ok {
			return !older(have, version(t, limit))
		}
	}
	t.Fatalf("unknown condition %q", word)
	return false
}

func kernel(t testing.TB) [2]int {
	t.Helper()
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	return version(t, unix.ByteSliceToString(name.Release[:]))
}

// version reads "6" and "6.9.0-arch1".
func version(t testing.TB, text string) [2]int {
	t.Helper()
	var v [2]int
	if n, _ := fmt.Sscanf(text, "%d.%d", &v[0], &v[1]); n < 1 {
		t.Fatalf("version %q", text)
	}
	return v
}

func older(a, b [2]int) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }

// pick is the value whose conditions hold; exactly one must.
func pick[T any](t testing.TB, p place, values map[string]T) T {
	t.Helper()
	var found []T
	for words, value := range values {
		if p.is(t, words) {
			found = append(found, value)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d of %v hold at %+v, want one", len(found), values, p)
	}
	return found[0]
}
