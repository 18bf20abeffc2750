//go:build linux

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// opened are the attempts that lower levels of Landlock do not refuse.
// truncate(2) needs no descriptor and is mediated from ABI 3 (Linux 6.2) on;
// only a file that everybody may write to is in danger.
var opened = map[string]int{"truncate": 3}

// hostileAt are levels of which each lacks something: 1 (Linux 5.13) renaming
// across directories, 3 (6.2) TCP, 5 (6.10) the signal scope. Besides the attacks
// each meets the programs that most concern it.
var hostileAt = map[int]string{1: "plants", 3: "", 5: "leftovers mechanism"}

// Without the newer rights of Landlock the other mechanisms still keep every
// promise. That the mask takes rights out of the ruleset is shown by an attempt
// that the full level refuses.
func TestLevels(t *testing.T) {
	for abi := range hostileAt {
		t.Run(fmt.Sprint(abi), func(t *testing.T) {
			s := start(t, append(canaries, fmt.Sprintf("MCP_EXEC_TEST_LANDLOCK_ABI=%d", abi))...)
			// Not unharmed: a sweep that comes to no end is cut short by the last
			// resort, which takes the fork servers along. No call may fail of it.
			testLevel(t, s, abi)
		})
	}
}

func testLevel(t *testing.T, s *server, abi int) {
	want := fmt.Sprintf("no signal scope (Landlock ABI %d)", abi)
	eventually(t, "the log names the level: "+want, func() bool { return strings.Contains(s.log.String(), want) })
	for _, path := range attacks(t) {
		t.Run(attackName(path), func(t *testing.T) { testAttack(t, s.in(t), path, abi) })
	}
	for _, dir := range strings.Fields(hostileAt[abi]) {
		for _, p := range specimens(t, dir) {
			t.Run(dir+" "+p.name, func(t *testing.T) { p.run(t, s.in(t)) })
		}
	}
	t.Run("rename across directories", func(t *testing.T) { testRefer(t, s.in(t), abi) })
}

// testRefer shows the same for a right that is granted: a kernel without it
// refuses to move a file to another directory.
func testRefer(t *testing.T, s *server, abi int) {
	got := s.run("import os\nos.mkdir('a'); os.mkdir('b'); open('a/f', 'w').close()\ntry:\n    os.rename('a/f', 'b/f')\nexcept OSError as e:\n    print(e.strerror)\nelse:\n    print('moved')")
	want := "moved\n"
	if abi < 2 {
		want = "Invalid cross-device link\n"
	}
	if got.Stdout != want {
		t.Errorf("rename under ABI %d: %q, want %q", abi, got.Stdout, want)
	}
}

// What the server starts during a run is as safe as what was there before: here
// the second fork server, its reapers and its workers. The last call would wait
// long if it were not.
func TestStartsDuringRun(t *testing.T) {
	for _, abi := range []int{5, full} {
		t.Run(fmt.Sprint(abi), func(t *testing.T) {
			s := start(t, fmt.Sprintf("MCP_EXEC_TEST_LANDLOCK_ABI=%d", abi))
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

func TestFullLevel(t *testing.T) {
	s := start(t)
	eventually(t, "the log names the level", func() bool { return strings.Contains(s.log.String(), " level=") })
	if !strings.Contains(s.log.String(), "level=\"full (Landlock ABI ") {
		t.Skipf("needs landlock>=6; the server says:\n%s", s.log)
	}
	testRefer(t, s, 6)
}
