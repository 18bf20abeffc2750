//go:build linux

package e2e

import (
	"maps"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// facts are what is compared, one text for each thing that a posture speaks of. What
// is there besides, and what is missing, are both a difference. Some texts are
// words, see look_test.go.
type facts map[string]string

const (
	none      = "0000000000000000"
	unlimited = "unlimited unlimited"
)

// everywhere holds in every posture and at every level.
var everywhere = facts{
	"status CapInh": none, "status CapPrm": none, "status CapEff": none, "status CapAmb": none, "status CapBnd": none,
	"status NoNewPrivs": "1", "status Seccomp": "2", "status Seccomp_filters": "one more than the server's",
	"status Umask": "0022", "status TracerPid": "0", "status SigBlk": none,
	"status SigIgn": "0000000001001000", // SIGPIPE and SIGXFSZ, as Python sets them
	"status SigCgt": "0000000000000002", // SIGINT, likewise
	"status Groups": "", "owner of /proc/self": "itself", "oom_score_adj": "1000", "nice": "0", "leads": "group session",

	"limit Max cpu time": "31 31", "limit Max file size": "67108864 67108864", "limit Max data size": "within the budget",
	"limit Max stack size": "8388608 8388608", "limit Max core file size": "1 1", "limit Max open files": "512 512",
	"limit Max locked memory": "0 0", "limit Max pending signals": "512 512", "limit Max msgqueue size": "0 0",
	"limit Max nice priority": "0 0", "limit Max realtime priority": "0 0", "limit Max processes": "64 64",
	"limit Max resident set": unlimited, "limit Max address space": unlimited, "limit Max file locks": unlimited,
	"limit Max realtime timeout": unlimited,

	"descriptor 0": "pipe", "descriptor 1": "pipe", "descriptor 2": "pipe",

	"environment HOME": "/tmp", "environment TMPDIR": "/tmp", "environment MPLCONFIGDIR": "/tmp/.matplotlib",
	"environment LANG": "C.UTF-8", "environment LOGNAME": "sandbox", "environment USER": "sandbox",
	"environment PATH": "/usr/local/bin:/usr/bin:/bin", "environment MPLBACKEND": "Agg",
	"environment MKL_NUM_THREADS": "1", "environment NUMEXPR_NUM_THREADS": "1",
	"environment OMP_NUM_THREADS": "1", "environment OPENBLAS_NUM_THREADS": "1",

	"attempt signal the parent": "EPERM", "attempt netlink": "EAFNOSUPPORT", "attempt write a sysctl": "EACCES",
}

// postures say what is so besides, by the posture's name and where it stands.
var postures = map[string]facts{
	"namespaces": {
		"status Uid": "65532 65532 65532 65532", "status Gid": "65532 65532 65532 65532", "setgroups": "deny",
		"processes": "itself", "pid and parent": "2 1", "host name": "sandbox", "limit Max msgqueue size": "819200 819200",
		"root directory": "the minimal one",
		"attempt list /": "ALLOWED", "attempt list /etc": "ALLOWED", "attempt stat /etc/shadow": "ENOENT",
		"attempt descriptors of the parent": "ENOENT", "attempt signal all others": "ESRCH",
		"attempt write to /usr": "EROFS", "attempt write to /": "EROFS", "attempt write own score": "EROFS",
		"attempt TCP": "ALLOWED", "attempt unix socket": "ALLOWED",
		"namespace user": "own", "namespace mnt": "own", "namespace pid": "own", "namespace pid_for_children": "own",
		"namespace net": "own", "namespace ipc": "own", "namespace cgroup": "own", "namespace uts": "the fork server's",
		"namespace time": "the server's", "namespace time_for_children": "the server's",
	},
	"namespaces as root": {
		"uid_map": "65532 slot 1", "gid_map": "65532 slot 1",
		"outside Uid": "slot", "outside Gid": "slot", "outside Groups": "", "outside owner": "slot",
	},
	"namespaces as user": { // an ordinary user can't leave its groups
		"uid_map": "65532 0 1", "gid_map": "65532 0 1", "status Groups": "the user's, seen from inside",
		"outside Uid": "the server's", "outside Gid": "the server's", "outside Groups": "the server's", "outside owner": "the server's",
	},
	// The slot's own init has the user's uid too. It ignores what comes from inside.
	"namespaces as user without scope": {"attempt signal the parent": "ALLOWED"},

	"landlock as root": {
		"status Uid": "slot", "status Gid": "slot", "processes": "itself", "attempt descriptors of the parent": "ENOENT",
		"outside Uid": "slot", "outside Gid": "slot", "outside Groups": "", "outside owner": "slot",
		"attempt write to /usr": "EACCES", "attempt write to /": "EACCES", "namespace mnt": "the fork server's",
	},
	"landlock in a container": {
		"status Uid": "65532 65532 65532 65532", "status Gid": "65532 65532 65532 65532", "status Groups": "the server's",
		"status CapBnd": "the server's", "limit Max processes": "the server's",
		"processes": "others", "attempt descriptors of the parent": "EACCES",
		"attempt write to /usr": "EACCES or EROFS", "attempt write to /": "EACCES or EROFS",
	},
	// Below ABI 6 seccomp refuses what the signal scope would.
	"landlock as root without scope":        {"attempt signal all others": "EPERM"},
	"landlock in a container without scope": {"attempt signal all others": "EPERM"},

	// What the container keeps, without Landlock. See differences.md.
	"container in a container": {
		"status Uid": "65532 65532 65532 65532", "status Gid": "65532 65532 65532 65532", "status Groups": "the server's",
		"limit Max processes": "the server's", "processes": "others", "root directory": "the image's",
		"attempt descriptors of the parent": "EACCES", "attempt signal all others": "EPERM",
		"attempt list /": "ALLOWED", "attempt list /etc": "ALLOWED",
		"attempt write to /usr": "EROFS", "attempt write to /": "EROFS", "attempt write own score": "ALLOWED",
	},
}

// shared is what a posture leaves as the server has it.
var shared = facts{
	"uid_map": "the server's", "gid_map": "the server's", "setgroups": "the server's", "host name": "the server's",
	"pid and parent": "not of an own namespace", "root directory": "",
	"attempt list /": "EACCES", "attempt list /etc": "EACCES", "attempt write own score": "EACCES",
	"attempt TCP": "EAFNOSUPPORT", "attempt unix socket": "EAFNOSUPPORT",
	"attempt stat /etc/shadow":  "ALLOWED", // that it is there: Landlock doesn't mediate stat(2)
	"attempt signal all others": "ALLOWED", // says kill(2) outside an own pid namespace, and reaches nobody
	"namespace user":            "the server's", "namespace mnt": "the server's", "namespace pid": "the server's",
	"namespace pid_for_children": "the server's", "namespace net": "the server's", "namespace ipc": "the server's",
	"namespace cgroup": "the server's", "namespace uts": "the server's", "namespace time": "the server's",
	"namespace time_for_children": "the server's",
}

// promised is the sum of what applies.
func promised(posture string, abi int) facts {
	where := " as user"
	switch {
	case inContainer():
		where = " in a container"
	case os.Geteuid() == 0:
		where = " as root"
	}
	want := maps.Clone(everywhere)
	if posture != "namespaces" {
		maps.Copy(want, shared)
	}
	maps.Copy(want, postures[posture])
	maps.Copy(want, postures[posture+where])
	if abi < 6 {
		maps.Copy(want, postures[posture+where+" without scope"])
	}
	return want
}

// TestPostureDiff compares a running program with what its posture says.
func TestPostureDiff(t *testing.T) {
	s, posture, abi := launch(t)
	for level, prefix := range levels {
		t.Run(level, func(t *testing.T) { testPosture(t, s.in(t), posture, abi, prefix) })
	}
}

// TestPostureMasked: older kernels give the same, but for what Landlock adds.
func TestPostureMasked(t *testing.T) {
	_, unmasked, full := launch(t)
	for _, mask := range []int{-1, 1, 4, 6} {
		if mask > full || mask < 1 && unmasked != "namespaces" {
			continue // not weaker; or no posture at all
		}
		t.Run("ABI "+strconv.Itoa(mask), func(t *testing.T) {
			s, posture, abi := launch(t, "MCP_EXEC_TEST_LANDLOCK_ABI="+strconv.Itoa(mask))
			if posture != unmasked || abi != max(mask, 0) {
				t.Fatalf("posture %s, ABI %d; want %s, %d", posture, abi, unmasked, max(mask, 0))
			}
			testPosture(t, s, posture, abi, levels["base"])
		})
	}
}

// testPosture looks at more runs than there are slots.
func testPosture(t *testing.T, s *server, posture string, abi int, prefix string) {
	t.Helper()
	var before facts
	for range 3 {
		seen := s.look(t, prefix)
		links := maps.Clone(seen.Facts)
		want := promised(posture, abi)
		seen.resolve(t, s, want)
		if diff := cmp.Diff(want, seen.Facts); diff != "" {
			t.Fatalf("a live worker is not what its posture says (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(expectedMounts(t, posture, seen), mountTable(seen.Mounts)); diff != "" {
			t.Fatalf("its mounts are not what its posture says (-want +got):\n%s", diff)
		}
		for key, word := range want {
			if word == "own" && links[key] == before[key] {
				t.Errorf("%s: %s was that of the run before too", key, links[key])
			}
		}
		before = links
	}
}
