//go:build linux

package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// soakEnv is how many runs the soak makes; CI makes a thousand.
const soakEnv = "MCP_EXEC_TEST_SOAK"

const (
	soakRuns  = 300
	soakGrows = 32 << 20 // bytes that the server may grow: what its garbage collector leaves lying
)

// mixed are the programs of the soak, in turn: each tenth leaves a process.
var mixed = []struct{ code, stdout string }{
	{"print(1)", "1\n"},
	{"import sys; print(sys.stdin.read())", "input\n"},
	{"raise ValueError", ""},
	{"import numpy; print(numpy.arange(3).sum())", "3\n"},
	{"import sys; sys.exit(7)", ""},
	{"open('/tmp/left', 'w').write('x' * 100000); open('/dev/shm/left-too', 'w').close(); print(2)", "2\n"},
	{"import subprocess; print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout, end='')", "child\n"},
	{"print('x' * 100000)", strings.Repeat("x", 100000) + "\n"},
	{"import threading; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()", "thread\n"},
	{"import os, time\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\n    time.sleep(600)\nprint('left')", "left\n"},
}

// size is what must not grow with the number of runs.
type size struct {
	processes, descriptors, files int
	memory                        int64 // resident bytes of the server
}

// After many runs the server is as it was after the first hundred.
func TestSoak(t *testing.T) {
	t.Parallel()
	runs := soakRuns
	if text := os.Getenv(soakEnv); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil || runs < soakRuns {
			t.Fatalf("%s=%q: want at least %d", soakEnv, text, soakRuns)
		}
	}
	s := start(t)
	s.soak(t, 100)
	before := s.size(t)
	s.soak(t, runs-100)
	after := s.size(t)
	t.Logf("before %+v, after %+v", before, after)
	if grown := after.memory - before.memory; grown > soakGrows {
		t.Errorf("the server grew by %d bytes, want at most %d", grown, soakGrows)
	}
	before.memory = 0
	eventually(t, fmt.Sprintf("the server has %+v again", before), func() bool {
		after = s.size(t)
		after.memory = 0
		return after == before
	})
	t.Logf("after: %+v", after)
	s.clean(t)
	s.unharmed(t)
}

func (s *server) soak(t *testing.T, runs int) {
	t.Helper()
	for n := range runs {
		p := mixed[n%len(mixed)]
		if got := s.call(args{"code": p.code, "stdin": "input"}); got.Stdout != p.stdout {
			t.Fatalf("run %d, %s: %s", n, p.code, got.brief())
		}
	}
}

// size is measured when the workers that a run used up have been replaced.
func (s *server) size(t *testing.T) size {
	t.Helper()
	if inContainer() {
		return s.sizeInside(t)
	}
	bothLevels(t, s)
	root := fmt.Sprintf("/proc/%d/root", s.forkServer(t, "base"))
	return size{
		processes:   len(descendants(s.cmd.Process.Pid)),
		descriptors: count(t, fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid)),
		files:       count(t, root+"/tmp") + count(t, root+"/dev/shm"),
		memory:      resident(t, fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid)),
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func resident(t *testing.T, path string) int64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no VmRSS", path)
	}
	n, _ := strconv.ParseInt(string(found[1]), 10, 64)
	return n << 10
}

// sizeInside asks a program: in a container it sees everything but descriptors.
// It waits until two workers of each level are there again, itself being one.
func (s *server) sizeInside(t *testing.T) size {
	t.Helper()
	got := s.run(`
import os, time
time.sleep(2)
pids = [p for p in os.listdir("/proc") if p.isdigit()]
servers = [p for p in pids if open(f"/proc/{p}/comm").read() == "mcp-exec\n"]
rss = next(line.split()[1] for line in open(f"/proc/{servers[0]}/status") if line.startswith("VmRSS"))
print(len(pids), len(os.listdir("/tmp")) + len(os.listdir("/dev/shm")), rss)
`)
	var z size
	var kilobytes int64
	if _, err := fmt.Sscan(got.Stdout, &z.processes, &z.files, &kilobytes); err != nil {
		t.Fatalf("%v: %s", err, got.brief())
	}
	z.memory = kilobytes << 10
	return z
}
