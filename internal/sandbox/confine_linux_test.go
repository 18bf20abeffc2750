package sandbox

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func names(steps []Step) []string {
	var out []string
	for _, s := range steps {
		if !strings.HasPrefix(s.Name, "prctl PR_CAPBSET_DROP") {
			out = append(out, s.Name)
		}
	}
	return out
}

func byName(steps []Step) map[string]Step {
	out := map[string]Step{}
	for _, s := range steps {
		out[s.Name] = s
	}
	return out
}

func wrote(path string) []string { return []string{"openat " + path, "write " + path, "close"} }

// limitNames are the limits of every worker, in their order.
var limitNames = []string{
	"prlimit64 RLIMIT_DATA", "prlimit64 RLIMIT_FSIZE", "prlimit64 RLIMIT_NOFILE", "prlimit64 RLIMIT_CORE",
	"prlimit64 RLIMIT_STACK", "prlimit64 RLIMIT_MSGQUEUE", "prlimit64 RLIMIT_RTPRIO", "prlimit64 RLIMIT_NICE",
	"prlimit64 RLIMIT_MEMLOCK", "prlimit64 RLIMIT_SIGPENDING",
}

var (
	ownProcessLimit = []string{"prlimit64 RLIMIT_NPROC"}
	ownUIDNames     = []string{"setgroups", "setresgid", "setresuid", "prctl PR_SET_DUMPABLE 1"}
	parentNames     = []string{"prctl PR_SET_PDEATHSIG SIGKILL", "getppid"}
	noRightsNames   = []string{"capset", "prctl PR_CAP_AMBIENT_CLEAR_ALL", "prctl PR_SET_NO_NEW_PRIVS"}
	filterName      = []string{"seccomp SECCOMP_SET_MODE_FILTER"}
)

var testWorker = Worker{Slot: 3, Parent: 7, InheritedData: 1000, Filter: make([]byte, 24),
	Limits: Limits{MemoryBytes: 1 << 20, WorkspaceBytes: 2 << 20, Processes: 9}}

// The order is argued in DESIGN: what a step needs must not be gone when it runs.
func TestWorkerStepsOrder(t *testing.T) {
	begin := []string{"prctl PR_SET_DUMPABLE 1", "setsid"}
	oom := wrote("/proc/self/oom_score_adj")
	tests := []struct {
		name    string
		posture Posture
		want    [][]string
	}{
		{"landlock as root", Posture{Name: "landlock", ABI: 7, SignalScope: true, OwnUID: true, Bounding: 2},
			[][]string{begin, ownUIDNames, parentNames, oom, limitNames, ownProcessLimit, noRightsNames,
				{"landlock_restrict_self ruleset.worker"}, filterName}},
		{"landlock as a user", Posture{Name: "landlock", ABI: 7, SignalScope: true},
			[][]string{begin, parentNames, oom, limitNames, noRightsNames, {"landlock_restrict_self ruleset.worker"}, filterName}},
		{"landlock without signal scope", Posture{Name: "landlock", ABI: 1},
			[][]string{begin, parentNames, oom, limitNames, noRightsNames, {"landlock_restrict_self ruleset.worker"}, filterName}},
		{"container", Posture{Name: "container"},
			[][]string{begin, parentNames, oom, limitNames, noRightsNames, {"prctl PR_SET_DUMPABLE 0"}, filterName}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(slices.Concat(tt.want...), names(tt.posture.WorkerSteps(testWorker))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestWorkerStepsValues(t *testing.T) {
	p := Posture{ABI: 7, OwnUID: true, FirstUID: 4000, Bounding: 41}
	steps := byName(p.WorkerSteps(testWorker))
	if got := steps["setresuid"].Args; !cmp.Equal(got, []Arg{Int(4004), Int(4004), Int(4004)}) {
		t.Errorf("setresuid %v", got)
	}
	if got := steps["getppid"].Want; got != 7 {
		t.Errorf("getppid wants %d, want the reaper's pid 7", got)
	}
	if _, ok := steps["prctl PR_CAPBSET_DROP 40"]; !ok {
		t.Error("the last capability stays in the bounding set")
	}
	for name, want := range map[string]uint64{"DATA": 1000 + 1<<20, "FSIZE": 2 << 20, "NPROC": 9, "CORE": 1, "NICE": 0, "MSGQUEUE": 0} {
		checkLimit(t, steps, name, want)
	}
	fprog := steps["seccomp SECCOMP_SET_MODE_FILTER"].Args[2].(Bytes)
	if got := binary.NativeEndian.Uint16(fprog.Data); got != 3 || len(fprog.Pointers[8]) != 24 {
		t.Errorf("sock_fprog of %d instructions, %d bytes, want 3 and 24", got, len(fprog.Pointers[8]))
	}
}

func checkLimit(t *testing.T, steps map[string]Step, name string, want uint64) {
	t.Helper()
	pair := steps["prlimit64 RLIMIT_"+name].Args[2].(Bytes).Data
	soft, hard := binary.NativeEndian.Uint64(pair), binary.NativeEndian.Uint64(pair[8:])
	if soft != want || hard != want {
		t.Errorf("RLIMIT_%s = %d, %d, want %d twice", name, soft, hard, want)
	}
}

// A waiting worker of container is out of reach for a running one of its uid; a
// program is as any other.
func TestCallSteps(t *testing.T) {
	for name, want := range map[string][]string{
		"namespaces": {"prlimit64 RLIMIT_CPU"},
		"landlock":   {"prlimit64 RLIMIT_CPU"},
		"container":  {"prlimit64 RLIMIT_CPU", "prctl PR_SET_DUMPABLE 1"},
	} {
		steps := Posture{Name: name}.CallSteps(1500 * time.Millisecond)
		if diff := cmp.Diff(want, names(steps)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		checkLimit(t, byName(steps), "CPU", 3)
	}
}

// Without signal scope no domain is entered: there the filter and the sweep stand in.
func TestServerDomainNeedsScope(t *testing.T) {
	domain := "landlock_restrict_self ruleset.server"
	for _, scope := range []bool{true, false} {
		p := Posture{SignalScope: scope}
		for what, steps := range map[string][]Step{"server": p.ServerSteps(), "reaper": p.ReaperSteps(Slot{})} {
			if got := slices.Contains(names(steps), domain); got != scope {
				t.Errorf("scope %t: %s enters the domain: %t", scope, what, got)
			}
		}
		if before, after := p.ForkSteps(); len(before)+len(after) > 0 {
			t.Errorf("without namespaces a fork has steps around it: %v, %v", names(before), names(after))
		}
	}
}

func TestCPULimit(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		time.Second: 2 * time.Second, 1500 * time.Millisecond: 3 * time.Second, 300 * time.Second: 301 * time.Second,
	} {
		if got := CPULimit(timeout); got != want {
			t.Errorf("CPULimit(%v) = %v, want %v", timeout, got, want)
		}
	}
}
