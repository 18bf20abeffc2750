//go:build linux

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// maskEnv hides the newer rights of Landlock from the server, as on a kernel with
// this ABI; below 0 all of it.
const maskEnv = "MCP_EXEC_TEST_LANDLOCK_ABI"

// hostileAt are levels of each posture of which each lacks something. In landlock: 1
// (Linux 5.13) renaming across directories, 3 (6.2) TCP, 5 (6.10) the signal scope.
// In namespaces Landlock is a second line only: -1 is without. Besides the attacks
// each meets the programs that most concern it.
var hostileAt = map[string]map[int]string{
	"landlock":   {1: "plants", 3: "", 5: "leftovers mechanism"},
	"namespaces": {-1: "leftovers mechanism plants", 1: ""},
}

// Without the newer rights of Landlock the other mechanisms still keep every
// promise. That the mask takes rights out of the ruleset is shown by an attempt
// that the full level refuses.
func TestLevels(t *testing.T) {
	for abi := range hostileAt[wanted()] {
		t.Run(fmt.Sprint(abi), func(t *testing.T) {
			s := start(t, append(canaries, fmt.Sprintf("%s=%d", maskEnv, abi))...)
			testLevel(t, s, abi)
			// In landlock a sweep that comes to no end is cut short by the last
			// resort, which takes the fork servers along. No call may fail of it.
			if s.place(t).is(t, "namespaces") {
				s.unharmed(t)
			}
		})
	}
}

func testLevel(t *testing.T, s *server, abi int) {
	if p := s.place(t); p.posture != wanted() || p.abi != max(abi, 0) {
		t.Fatalf("%+v, want %s at Landlock ABI %d", p, wanted(), abi)
	}
	for _, path := range attacks(t) {
		t.Run(attackName(path), func(t *testing.T) { testAttack(t, s.in(t), path) })
	}
	for _, dir := range strings.Fields(hostileAt[wanted()][abi]) {
		for _, p := range specimens(t, dir) {
			t.Run(dir+" "+p.name, func(t *testing.T) { p.run(t, s.in(t)) })
		}
	}
	t.Run("rename across directories", func(t *testing.T) { testRefer(t, s.in(t)) })
}

// testRefer shows the same for a right that is granted: a kernel with Landlock but
// without this right refuses to move a file to another directory.
func testRefer(t *testing.T, s *server) {
	got := s.run("import os\nos.mkdir('a'); os.mkdir('b'); open('a/f', 'w').close()\ntry:\n    os.rename('a/f', 'b/f')\nexcept OSError as e:\n    print(e.strerror)\nelse:\n    print('moved')")
	want := "moved\n"
	if s.place(t).abi == 1 {
		want = "Invalid cross-device link\n"
	}
	if got.Stdout != want {
		t.Errorf("rename in %+v: %q, want %q", s.place(t), got.Stdout, want)
	}
}

// startsAt are the levels that differ in how a program is kept from newcomers; 0 masks nothing.
var startsAt = map[string][]int{"landlock": {5, 0}, "namespaces": {0}, "container": {0}}

// What the server starts during a run is as safe as what was there before: here
// the second fork server, its reapers and its workers. The last call would wait
// long if it were not.
func TestStartsDuringRun(t *testing.T) {
	for _, abi := range startsAt[wanted()] {
		t.Run(fmt.Sprint(abi), func(t *testing.T) {
			s := start(t, fmt.Sprintf("%s=%d", maskEnv, abi))
			listed := make(chan error, 1)
			go func() {
				time.Sleep(300 * time.Millisecond) // the program runs
				_, err := s.session.ListTools(context.Background(), nil)
				listed <- err
			}()
			for _, p := range specimens(t, "newcomers") {
				p.run(t, s.in(t))
			}
			if err := <-listed; err != nil {
				t.Fatal(err)
			}
			if got := s.run("import numpy; print(6 * 7)"); got.Stdout != "42\n" {
				t.Errorf("%s", got.brief())
			}
			s.unharmed(t)
		})
	}
}
