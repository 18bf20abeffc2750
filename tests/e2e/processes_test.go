//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long something may take that needs no more than milliseconds.
const patience = 20 * time.Second

// processes are the server, its threads and everything below it; in a container
// the program itself has to find them.
func (s *server) processes(t testing.TB) []int {
	t.Helper()
	if inContainer() {
		return []int{}
	}
	pid := s.cmd.Process.Pid
	ids := append([]int{pid}, descendants(pid)...)
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if id, err := strconv.Atoi(task.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// children of one process, of all its threads.
func children(pid int) []int {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var found []int
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		for _, field := range strings.Fields(string(text)) {
			if id, err := strconv.Atoi(field); err == nil {
				found = append(found, id)
			}
		}
	}
	return found
}

func descendants(pid int) []int {
	var found []int
	for _, child := range children(pid) {
		found = append(append(found, child), descendants(child)...)
	}
	return found
}

// answers fails the test when the server doesn't run the next program.
func (s *server) answers(t testing.TB) {
	t.Helper()
	if got := s.run("print(6 * 7)"); got.Stdout != "42\n" || got.ExitCode != 0 {
		t.Errorf("the next run: %+v", got)
	}
}

// unharmed fails the test when the server had to kill or replace its own
// processes: no program may bring it to that.
func (s *server) unharmed(t testing.TB) {
	t.Helper()
	for _, word := range []string{"last resort", "fork server ended", "slot not clean", "panic"} {
		if strings.Contains(s.log.String(), word) {
			t.Errorf("the server's log says %q:\n%s", word, s.log)
		}
	}
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%s: not within %v", what, patience)
			return
		}
	}
}

// Two waiting workers on each of the two levels are all that a server without a
// run has under the uids that it gives to programs.
const waiting = 4

// noProcessLeft looks for processes of programs from outside.
func (s *server) noProcessLeft(t testing.TB) {
	t.Helper()
	if inContainer() {
		return // nothing else is in its pid namespace: the next program has looked
	}
	defer func() {
		if t.Failed() {
			t.Logf("processes of programs:\n%s", table(s.programs()))
		}
	}()
	eventually(t, "a process of the run is left", func() bool {
		pids := s.programs()
		for _, pid := range pids {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			if !strings.HasPrefix(string(name), "python") {
				return false
			}
		}
		return len(pids) > 0 && len(pids) <= waiting
	})
}

// Programs get uids from here on; those of one server are a block of 256.
const firstUID, blockUIDs = 0x70000000, 256

// blocks are the first uids of servers, by pid: one that has ended tells no more.
var blocks sync.Map

// programs are the processes of programs, and workers that wait for one.
func (s *server) programs() []int {
	if s.place(s.t).posture == "namespaces" {
		return s.nested()
	}
	return s.byUID()
}

// nested are the processes in the pid namespaces of slots, whose first one is the
// reaper. None of them can get away from below the fork server.
func (s *server) nested() []int {
	depth := len(namespacePIDs("self")) + 2
	var found []int
	for _, server := range s.forkServers("base") {
		for _, pid := range descendants(server) {
			if pids := namespacePIDs(strconv.Itoa(pid)); len(pids) == depth && pids[depth-1] != "1" {
				found = append(found, pid)
			}
		}
	}
	return found
}

// namespacePIDs are the ids of a process in each pid namespace that it is in, from
// ours down. See NSpid in proc_pid_status(5).
func namespacePIDs(pid string) []string {
	text, _ := os.ReadFile("/proc/" + pid + "/status")
	for line := range strings.Lines(string(text)) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			return strings.Fields(ids)
		}
	}
	return nil
}

// byUID are the processes with an uid that only this server gives out.
func (s *server) byUID() []int {
	pid := s.cmd.Process.Pid
	if _, ok := blocks.Load(pid); !ok {
		for _, child := range descendants(pid) {
			if uid := owner(child); uid >= firstUID {
				blocks.Store(pid, uid-uid%blockUIDs)
			}
		}
	}
	first, ok := blocks.Load(pid)
	if !ok {
		return nil
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var found []int
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if uid := owner(pid); uid >= first.(uint32) && uid < first.(uint32)+blockUIDs {
			found = append(found, pid)
		}
	}
	return found
}

// owner is 0 for a process that is gone, as for one of root.
func owner(pid int) uint32 {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return 0
	}
	return info.Sys().(*syscall.Stat_t).Uid
}

// table shows processes for a failed test.
func table(pids []int) string {
	var lines strings.Builder
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		lines.Write(text[:min(len(text), 60)])
		lines.WriteByte('\n')
	}
	return lines.String()
}
