//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// heldBy says what a process of the sandbox may hold open: nothing that leads to the
// host's files but fonts, which programs may read. Its streams, sockets and pipes are ours; a proc that is in no
// directory tree shows as "/".
var heldBy = map[string]*regexp.Regexp{
	"fork server": regexp.MustCompile(`^(pipe|socket|pid):\[\d+\]$|^/memfd:fork server \(deleted\)$|^anon_inode:\[landlock-ruleset\]$|^/.*/mpl-data/fonts/.*\.ttf$`),
	"reaper":      regexp.MustCompile(`^(pipe|socket|pid):\[\d+\]$|^/memfd:(fork server|status) \(deleted\)$|^anon_inode:\[landlock-ruleset\]$|^/.*/mpl-data/fonts/.*\.ttf$|^/$`),
	"worker":      regexp.MustCompile(`^(pipe|socket):\[\d+\]$`),
}

// outer is what the fork servers and each slot's first process are, by posture.
var outer = map[string]map[string]facts{
	"namespaces as root": {
		"fork server": {"uid": "slot", "status NoNewPrivs": "1", "namespaces shared with the server": "time time_for_children"},
		"reaper":      {"uid": "slot", "status NoNewPrivs": "1", "namespaces shared with the server": "time time_for_children"},
	},
	"namespaces as user": {
		"fork server": {"uid": "the server's", "status NoNewPrivs": "1", "namespaces shared with the server": "time time_for_children"},
		"reaper":      {"uid": "the server's", "status NoNewPrivs": "1", "namespaces shared with the server": "time time_for_children"},
	},
	"landlock as root": {
		"fork server": {"uid": "the server's", "status NoNewPrivs": "1",
			"namespaces shared with the server": "cgroup ipc net pid pid_for_children time time_for_children user uts"},
		"reaper": {"uid": "the server's", "status NoNewPrivs": "1",
			"namespaces shared with the server": "cgroup ipc net pid pid_for_children time time_for_children user uts"},
	},
}

// TestOuterProcesses: what stands between a program and the server holds nothing that
// could lead out, knows nothing of the server's environment, and is nobody outside.
func TestOuterProcesses(t *testing.T) {
	requireOutside(t)
	s, posture, _ := launch(t, canaries...)
	bothLoaded(t, s)
	where := " as user"
	if os.Geteuid() == 0 {
		where = " as root"
	}
	server := processFacts(t, s.cmd.Process.Pid)
	for role, pids := range s.roles(t) {
		if len(pids) < 2 {
			t.Errorf("%d of role %s", len(pids), role)
		}
		for _, pid := range pids {
			checkHeld(t, role, pid)
			want, known := outer[posture+where][role]
			if !known {
				continue // a worker: see TestPosture
			}
			if diff := cmp.Diff(want, outerFacts(t, pid, server)); diff != "" {
				t.Errorf("%s %d (-want +got):\n%s", role, pid, diff)
			}
		}
	}
}

// bothLoaded has a fork server on each level.
func bothLoaded(t *testing.T, s *server) {
	t.Helper()
	for _, prefix := range levels {
		if got := s.run(prefix + "print(6 * 7)"); got.Stdout != "42\n" {
			t.Fatalf("%s", got.brief())
		}
	}
	eventually(t, "two workers wait on each level", func() bool {
		workers := s.roles(t)["worker"]
		return len(workers) == waiting && !slices.ContainsFunc(workers, func(pid int) bool { return !waits(pid) })
	})
}

// waits: it holds its three streams, and the socket on which its program comes.
func waits(pid int) bool {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries) == 4
}

// roles sorts what is below the server. A worker has seccomp, a reaper has a worker.
func (s *server) roles(t *testing.T) map[string][]int {
	t.Helper()
	found := map[string][]int{"fork server": {s.forkServer(t, "base"), s.forkServer(t, "data")}}
	for _, server := range found["fork server"] {
		for _, reaper := range children(server) {
			workers := children(reaper)
			if slices.Contains(found["fork server"], reaper) || len(workers) == 0 {
				continue
			}
			found["reaper"] = append(found["reaper"], reaper)
			found["worker"] = append(found["worker"], workers...)
		}
	}
	return found
}

func checkHeld(t *testing.T, role string, pid int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/", pid)
	entries, err := os.ReadDir(dir + "fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		link, _ := os.Readlink(dir + "fd/" + entry.Name())
		if !heldBy[role].MatchString(link) {
			t.Errorf("%s %d holds %s: %s", role, pid, entry.Name(), link)
		}
	}
	environment := mustRead(t, dir+"environ")
	for _, canary := range []string{tokenCanary, otherCanary, "MCP_EXEC"} {
		if strings.Contains(environment, canary) {
			t.Errorf("%s %d has %s in its environment", role, pid, canary)
		}
	}
}

func outerFacts(t *testing.T, pid int, server facts) facts {
	t.Helper()
	own := processFacts(t, pid)
	f := facts{"uid": own["status Uid"], "status NoNewPrivs": own["status NoNewPrivs"]}
	switch {
	case f["uid"] == server["status Uid"]:
		f["uid"] = "the server's"
	case slotID(f["uid"]):
		f["uid"] = "slot"
	}
	var shared []string
	for key, link := range own {
		if kind, ok := strings.CutPrefix(key, "namespace "); ok && link == server[key] {
			shared = append(shared, kind)
		}
	}
	slices.Sort(shared)
	f["namespaces shared with the server"] = strings.Join(shared, " ")
	return f
}

// TestInheritedDescriptors: whoever starts the server may have left files open in it.
func TestInheritedDescriptors(t *testing.T) {
	requireOutside(t)
	requireSandbox(t)
	secret, err := os.CreateTemp(t.TempDir(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	for _, number := range []int{3, 251, 2000} {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			s := launchWith(t, secret, number)
			if got := s.run(openDescriptors); got.Stdout != "" || got.ExitCode != 0 {
				t.Errorf("open in the program: %s", got.brief())
			}
			for _, pid := range descendants(s.cmd.Process.Pid) {
				links, _ := exec.Command("ls", "-l", fmt.Sprintf("/proc/%d/fd", pid)).Output()
				if strings.Contains(string(links), secret.Name()) {
					t.Errorf("open in process %d below the server:\n%s", pid, links)
				}
			}
		})
	}
}

const openDescriptors = `
import os
for fd in range(3, 4096):
    try:
        print(fd, os.readlink(f"/proc/self/fd/{fd}"))
    except OSError:
        pass
`

// launchWith starts a server that inherits a file under a number.
func launchWith(t *testing.T, file *os.File, number int) *server {
	t.Helper()
	const leak = `
import os, resource, sys
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
os.dup2(3, int(sys.argv[1]))
os.execv(sys.argv[2], sys.argv[2:])`
	cmd := command()
	cmd.Path = os.Getenv("MCP_EXEC_PYTHON")
	cmd.Args = []string{"python3", "-c", leak, fmt.Sprint(number), binary}
	cmd.ExtraFiles = []*os.File{file}
	s := startCommand(t, cmd)
	return s
}

// TestIgnoredSignals: nor do programs ignore what whoever started the server ignores.
func TestIgnoredSignals(t *testing.T) {
	requireOutside(t)
	cmd := command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `trap '' HUP USR1 ALRM && exec "$0"`, binary}
	s := startCommand(t, cmd)
	got := s.run("import signal\nprint([s.name for s in signal.valid_signals() if isinstance(s, signal.Signals) and signal.getsignal(s) is signal.SIG_IGN])")
	if got.Stdout != "['SIGPIPE', 'SIGXFSZ']\n" {
		t.Errorf("%s", got.brief())
	}
}
