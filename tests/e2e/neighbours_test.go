//go:build linux

package e2e

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// eight is how many programs run at once here.
const eight = "8"

// each runs all of them at once and returns the results in the same order.
func (s *server) each(programs ...args) []result {
	s.t.Helper()
	results := make([]result, len(programs))
	var all sync.WaitGroup
	for n, program := range programs {
		all.Go(func() { results[n] = s.call(program) })
	}
	all.Wait()
	return results
}

// TestNeighbours: whatever seven programs do to find, harm or starve the eighth, it
// does not notice, and each of them meets its own limits only.
func TestNeighbours(t *testing.T) {
	s := wide(t, eight)
	victim, err := os.ReadFile("testdata/neighbours/victim.py")
	if err != nil {
		t.Fatal(err)
	}
	attackers := slices.DeleteFunc(specimens(t, "neighbours"), func(p specimen) bool { return p.name == "victim" })
	for level, prefix := range levels {
		for first := range attackers { // each meets each other one, and seven at most are there
			if first%4 == 0 {
				t.Run(fmt.Sprint(level, " ", first), func(t *testing.T) {
					beside := append(slices.Clone(attackers[first:]), attackers[:first]...)[:7]
					testVictim(t, s.in(t), prefix+string(victim), beside)
				})
			}
		}
	}
	s.unharmed(t)
	s.answers(t)
	if inContainer() {
		return
	}
	eventually(t, "a process of a run is left", func() bool {
		workers := s.roles(t)["worker"]
		return len(workers) > 0 && !slices.ContainsFunc(workers, func(pid int) bool { return !waits(pid) })
	})
}

func testVictim(t *testing.T, s *server, victim string, beside []specimen) {
	programs := []args{{"code": victim, "timeout_s": 60}}
	for _, p := range beside {
		programs = append(programs, args{"code": p.code, "timeout_s": 60})
	}
	results := s.each(programs...)
	if got := results[0]; got.Stdout != "unharmed\n" || got.Stderr != "" || got.ExitCode != 0 || got.Note != "" {
		t.Errorf("the victim: %s", got.brief())
	}
	for n, p := range beside {
		p.compare(t, s.place(t), results[n+1])
		if t.Failed() {
			t.Logf("%s: %s", p.name, results[n+1].brief())
		}
	}
}

// own are the namespaces of which every run has its own.
var own = regexp.MustCompile(`^(pid|net|ipc|mnt|user|cgroup):\[\d+\]$`)

// TestEightWorlds: no two programs that run at once share a namespace.
func TestEightWorlds(t *testing.T) {
	s := wide(t, eight)
	s.run("import numpy") // so that nobody waits for the libraries: the kernel gives the number of one that is gone to the next
	const links = `
import os, time
for name in ("pid", "net", "ipc", "mnt", "user", "cgroup"):
    print(os.readlink("/proc/self/ns/" + name))
time.sleep(4)
`
	var programs []args
	for n := range 8 {
		programs = append(programs, args{"code": []string{"", "import numpy\n"}[n%2] + links})
	}
	seen := map[string]int{}
	for n, got := range s.each(programs...) {
		for _, link := range strings.Fields(got.Stdout) {
			if before, there := seen[link]; there || !own.MatchString(link) {
				t.Errorf("run %d is in %s, as run %d", n, link, before)
			}
			seen[link] = n
		}
	}
	if len(seen) != 8*6 {
		t.Errorf("%d namespaces, want 48: %v", len(seen), seen)
	}
}

// TestEightOverlap: eight that sleep two seconds each need far less than sixteen.
func TestEightOverlap(t *testing.T) {
	s := wide(t, eight)
	sleep := args{"code": "import time; time.sleep(2); print(1)"}
	begin := time.Now()
	for _, got := range s.each(slices.Repeat([]args{sleep}, 8)...) {
		if got.Stdout != "1\n" {
			t.Errorf("%s", got.brief())
		}
	}
	if took := time.Since(begin); took > 12*time.Second {
		t.Errorf("eight sleeps of 2 s took %v", took)
	}
}

// TestQueueOfTwo: with two at once the calls begin in the order in which they came.
func TestQueueOfTwo(t *testing.T) {
	s := wide(t, "2")
	const began = "import time; print(time.monotonic()); time.sleep(0.4)"
	starts := make([]float64, 8)
	var all sync.WaitGroup
	for n := range starts {
		all.Go(func() {
			got := s.call(args{"code": []string{"", "import numpy\n"}[n/2%2] + began})
			starts[n], _ = strconv.ParseFloat(strings.TrimSpace(got.Stdout), 64)
		})
		pause()
	}
	all.Wait()
	for n := 2; n < len(starts); n++ { // two that begin at once may do so in any order
		if starts[n-2] == 0 || starts[n] < starts[n-2] {
			t.Errorf("began at %v", starts)
		}
	}
}

// TestForkServersKilledDuringEight: their runs may end, and are answered; every later
// call works.
func TestForkServersKilledDuringEight(t *testing.T) {
	requireOutside(t)
	s := wide(t, eight)
	for _, names := range [][]string{{"data"}, {"base"}, {"data", "base"}} {
		t.Run(strings.Join(names, " and "), func(t *testing.T) {
			s := s.in(t)
			for _, prefix := range levels {
				s.run(prefix + "print(1)")
			}
			victims := map[int]bool{}
			for _, name := range names {
				victims[s.forkServer(t, name)] = true
			}
			var answers []<-chan string
			for n := range 8 {
				answers = append(answers, s.background(args{"code": []string{"", "import numpy\n"}[n%2] + "import time; time.sleep(2)"}))
			}
			time.Sleep(time.Second)
			kill(t, slices.Collect(maps.Keys(victims)))
			for n, answered := range answers {
				t.Logf("run %d: %s", n, <-answered)
			}
			sixteen := slices.Repeat([]args{{"code": "print(6 * 7)"}, {"code": "import numpy; print(6 * 7)"}}, 8)
			for _, got := range s.each(sixteen...) {
				if got.Stdout != "42\n" {
					t.Errorf("a later call: %s", got.brief())
				}
			}
		})
	}
}
