//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// bothLevels loads the second fork server too, and waits for its workers.
func bothLevels(t testing.TB, s *server) {
	t.Helper()
	for range 3 {
		for level, prefix := range levels {
			if got := s.run(prefix + "print(6 * 7)"); got.Stdout != "42\n" {
				t.Fatalf("level %s: %s", level, got.brief())
			}
		}
	}
	eventually(t, "two workers wait on each level", func() bool { return len(s.programs()) == waiting })
}

// forkServer is the pid that the log gave last.
func (s *server) forkServer(t testing.TB, level string) int {
	t.Helper()
	pids := s.forkServers(level)
	if len(pids) == 0 {
		t.Fatalf("no fork server for %s in the log:\n%s", level, s.log)
	}
	return pids[len(pids)-1]
}

// forkServers are all that the log names.
func (s *server) forkServers(level string) []int {
	var pids []int
	for _, found := range regexp.MustCompile(`"fork server ready" level=`+level+` pid=(\d+)`).FindAllStringSubmatch(s.log.String(), -1) {
		pid, _ := strconv.Atoi(found[1])
		pids = append(pids, pid)
	}
	return pids
}

// reapers are the children of a fork server that have a worker.
func (s *server) reapers(t testing.TB, level string) []int {
	t.Helper()
	workers := s.programs()
	return slices.DeleteFunc(children(s.forkServer(t, level)), func(pid int) bool {
		return !slices.ContainsFunc(children(pid), func(child int) bool { return slices.Contains(workers, child) })
	})
}

// lastReaper is the child of the first fork server that never has one itself.
func (s *server) lastReaper(t testing.TB) []int {
	t.Helper()
	return slices.DeleteFunc(children(s.forkServer(t, "base")), func(pid int) bool { return len(children(pid)) > 0 })
}

// victim is processes of the server by their role, and where there are such.
type victim struct {
	name, where string
	pids        func(testing.TB, *server) []int
}

func victimsIn(t testing.TB, p place) []victim {
	return slices.DeleteFunc(slices.Clone(victims), func(v victim) bool { return !p.is(t, v.where) })
}

var victims = []victim{
	{"base fork server", "", func(t testing.TB, s *server) []int { return []int{s.forkServer(t, "base")} }},
	{"data fork server", "", func(t testing.TB, s *server) []int { return []int{s.forkServer(t, "data")} }},
	{"both fork servers", "", func(t testing.TB, s *server) []int { return []int{s.forkServer(t, "data"), s.forkServer(t, "base")} }},
	{"reapers of base", "", func(t testing.TB, s *server) []int { return s.reapers(t, "base") }},
	{"reapers of data", "", func(t testing.TB, s *server) []int { return s.reapers(t, "data") }},
	{"one reaper of base", "", func(t testing.TB, s *server) []int { return one(s.reapers(t, "base")) }},
	{"workers", "", func(_ testing.TB, s *server) []int { return s.programs() }},
	{"one worker", "", func(_ testing.TB, s *server) []int { return one(s.programs()) }},
	{"reaper of last resort", "landlock abi>=6", func(t testing.TB, s *server) []int { return s.lastReaper(t) }},
	{"everything", "", func(_ testing.TB, s *server) []int { return descendants(s.cmd.Process.Pid) }},
}

// Whatever of it dies while nothing runs, no call fails.
func TestKilledWhileIdle(t *testing.T) {
	t.Parallel()
	requireOutside(t)
	s := start(t)
	for _, victim := range victimsIn(t, s.place(t)) {
		t.Run(victim.name, func(t *testing.T) {
			s := s.in(t)
			bothLevels(t, s)
			kill(t, victim.pids(t, s))
			for range 3 {
				for level, prefix := range levels {
					if got := s.run(prefix + "print(6 * 7)"); got.Stdout != "42\n" {
						t.Errorf("level %s: %s", level, got.brief())
					}
				}
			}
			bothLevels(t, s)
			s.noProcessLeft(t)
		})
	}
}

// Whatever dies during a run: that call is answered, no later one fails, and
// nothing of the run lives on.
func TestKilledDuringRun(t *testing.T) {
	t.Parallel()
	requireOutside(t)
	s := start(t)
	for _, victim := range victimsIn(t, s.place(t)) {
		t.Run(victim.name, func(t *testing.T) {
			s := s.in(t)
			bothLevels(t, s)
			before := victim.pids(t, s)
			answered := s.background(args{"code": straggling + "print('up', flush=True); time.sleep(1)", "timeout_s": 20})
			eventually(t, "the program has children", func() bool { return len(s.programs()) >= waiting+stragglers })
			kill(t, before)
			t.Logf("its own answer: %s", <-answered)
			for level, prefix := range levels {
				if got := s.run(prefix + "print(6 * 7)"); got.Stdout != "42\n" {
					t.Errorf("level %s: %s", level, got.brief())
				}
			}
			s.clean(t)
			bothLevels(t, s)
		})
	}
}

// stragglers is how many daemons straggling leaves, one of them deaf to signals.
const stragglers = 3

const straggling = `
import os, signal, time
for n in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        if n == 0:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while True:
            time.sleep(600)
    os.wait()
`

// background runs a program and tells what came of it.
func (s *server) background(a args) <-chan string {
	answered := make(chan string, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		res, err := s.raw(ctx, a)
		if err != nil {
			answered <- "error: " + err.Error()
			return
		}
		answered <- fmt.Sprintf("error %t: %s", res.IsError, text(res))
	}()
	return answered
}

// one is the first of them, if any.
func one(pids []int) []int { return pids[:min(1, len(pids))] }

func kill(t testing.TB, pids []int) {
	t.Helper()
	if len(pids) == 0 {
		t.Fatal("nobody to kill")
	}
	for _, pid := range pids {
		if pid <= 1 { // 0 would be our own group
			t.Fatalf("kill %d", pid)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Logf("kill %d: %v", pid, err)
		}
	}
}

// requireOutside skips what looks at the server's processes from outside its pid
// namespace: in a container they are init's to end, and no program reaches them.
func requireOutside(t testing.TB) {
	t.Helper()
	if inContainer() {
		t.Skip("looks at the server's processes from outside, which a container hides; runs natively")
	}
}

// Every way in which a server ends takes the run and all of its processes along.
func TestServerEnds(t *testing.T) {
	requireOutside(t)
	for _, tt := range []struct {
		name, level string
		end         func(w *wire)
	}{
		{"killed", "data", func(w *wire) { w.cmd.Process.Kill() }},
		{"terminated", "base", func(w *wire) { w.cmd.Process.Signal(syscall.SIGTERM) }},
		{"interrupted", "base", func(w *wire) { w.cmd.Process.Signal(os.Interrupt) }},
		{"client gone", "base", func(w *wire) { w.in.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := initialized(t)
			s := &server{t: t, cmd: w.cmd, log: w.log}
			w.exec(args{"code": levels[tt.level] + straggling + "time.sleep(600)", "timeout_s": 300})
			// Besides it at least the other worker of its level waits.
			eventually(t, "the program has children", func() bool { return len(s.programs()) > 1+stragglers })
			kin := descendants(w.cmd.Process.Pid)
			tt.end(w)
			eventually(t, "a process of the server is left", func() bool { return len(s.programs()) == 0 && !anyAlive(kin) })
			for line := range w.lines {
				if strings.Contains(line, `"structuredContent"`) {
					t.Errorf("an answer nobody waits for: %s", line)
				}
			}
		})
	}
}

// anyAlive ignores zombies: whoever has to reap them is not ours.
func anyAlive(pids []int) bool {
	return slices.ContainsFunc(pids, func(pid int) bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		_, state, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
		return !strings.HasPrefix(state, "Z")
	})
}
