//go:build linux

package e2e

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// foundByEach is what each run finds, whatever the one before it left behind, in
// every posture.
var foundByEach = map[string]string{
	"lock": "new", "limit": "new", "timer": "new", "nice": "new", "/tmp": "new", "/dev/shm": "new", "working directory": "main.py",
	"keyring": "EPERM", "host name": "EPERM",
	"write kernel/shmmax": "refused", "write kernel/sem": "refused", "write kernel/msgmni": "refused",
	"write fs/mqueue/queues_max": "refused", "write fs/mqueue/msg_max": "refused", "write kernel/hostname": "refused",
	"write user/max_inotify_instances": "refused", "write net/ipv4/ip_local_port_range": "refused",
}

// inOwn is what a run finds in namespaces that are its own: nothing ever happened.
var inOwn = map[string]string{
	"pids": "2 3", "interface": "0 0 0 0", "TCP counters": "0 0 0", "UDP counters": "0 0", "TIME_WAIT counters": "0 0 0",
	"TCP table": "0", "UDP table": "0", "unix table": "0", "shm table": "0", "sem table": "0", "msg table": "0",
	"value of kernel/shmmax": "67108864", "value of kernel/sem": "250 4096 32 64", "value of kernel/msgmni": "64",
	"value of fs/mqueue/queues_max": "256", "value of fs/mqueue/msg_max": "10", "value of kernel/hostname": "sandbox",
	"value of user/max_inotify_instances": "8", "value of net/ipv4/ip_local_port_range": "32768 60999",
	"shmget": "new", "semget": "new", "msgget": "new", "mq_open": "new",
	"abstract socket": "new", "path socket": "new", "TCP port": "new", "TCP6 port": "new", "UDP port": "new", "connections": "new",
	"inotify": "8 EMFILE", "cgroups": "/",
}

// inShared is what it finds in the server's: it can make nothing there. What it reads
// there is the host's, and no run adds to it.
var inShared = map[string]string{
	"pids": hosts, "interface": hosts, "TCP counters": hosts, "UDP counters": hosts, "TIME_WAIT counters": hosts,
	"TCP table": hosts, "UDP table": hosts, "unix table": hosts, "shm table": hosts, "sem table": hosts, "msg table": hosts,
	"value of kernel/shmmax": hosts, "value of kernel/sem": hosts, "value of kernel/msgmni": hosts,
	"value of fs/mqueue/queues_max": hosts, "value of fs/mqueue/msg_max": hosts, "value of kernel/hostname": hosts,
	"value of user/max_inotify_instances": hosts, "value of net/ipv4/ip_local_port_range": hosts,
	"shmget": "EPERM", "semget": "EPERM", "msgget": "EPERM", "mq_open": "EPERM",
	"abstract socket": "EAFNOSUPPORT", "path socket": "EAFNOSUPPORT", "TCP port": "EAFNOSUPPORT", "TCP6 port": "EAFNOSUPPORT",
	"UDP port": "EAFNOSUPPORT", "connections": "EAFNOSUPPORT", "inotify": "EPERM", "cgroups": hosts,
}

const hosts = "the host's"

// withoutLimits is inOwn before Linux 6.9, where the ipc objects of a namespace can't
// be limited by its own root: then there are none.
var withoutLimits = map[string]string{"shmget": "EPERM", "semget": "EPERM", "msgget": "EPERM", "mq_open": "EPERM",
	"value of kernel/shmmax": hosts, "value of kernel/sem": hosts, "value of kernel/msgmni": hosts}

// TestTwoRuns: more runs than there are slots, each of which finds what the first did.
func TestTwoRuns(t *testing.T) {
	text, err := os.ReadFile("testdata/tworuns/kernel.py")
	if err != nil {
		t.Fatal(err)
	}
	s, posture, abi := launch(t)
	for level, prefix := range levels {
		t.Run(level, func(t *testing.T) { testTwoRuns(t, s.in(t), posture, abi, prefix+string(text)) })
	}
	t.Run("without Landlock", func(t *testing.T) {
		s := inNamespaces(t, "MCP_EXEC_TEST_LANDLOCK_ABI=-1")
		testTwoRuns(t, s, "namespaces", 0, string(text))
	})
}

func testTwoRuns(t *testing.T, s *server, posture string, abi int, code string) {
	t.Helper()
	for range 5 {
		got := outcomes(t, s.run(code))
		if diff := cmp.Diff(foundIn(t, posture, abi, got), got); diff != "" {
			t.Fatalf("what a run finds (-want +got):\n%s", diff)
		}
	}
}

// foundIn is what applies to the posture; where that is the host's, whatever was found.
func foundIn(t *testing.T, posture string, abi int, got map[string]string) map[string]string {
	t.Helper()
	want := maps.Clone(foundByEach)
	if posture == "namespaces" {
		maps.Copy(want, inOwn)
		if older(kernel(t), [2]int{6, 9}) {
			maps.Copy(want, withoutLimits)
		}
	} else {
		maps.Copy(want, inShared)
	}
	for name, found := range want {
		if value, there := got[name]; found == hosts && there {
			want[name] = value
		}
	}
	return want
}

func outcomes(t *testing.T, res result) map[string]string {
	t.Helper()
	if res.ExitCode != 0 || res.Stderr != "" {
		t.Fatalf("%s", res.brief())
	}
	found := map[string]string{}
	for line := range strings.Lines(res.Stdout) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if _, twice := found[name]; !ok || twice {
			t.Fatalf("line %q", line)
		}
		found[name] = value
	}
	return found
}
