package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
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

var testWorker = Worker{Parent: 7, UID: 4242, InheritedData: 1000, Filter: make([]byte, 24),
	Limits: Limits{MemoryBytes: 1 << 20, WorkspaceBytes: 2 << 20, Processes: 9}}

// The order is argued in DESIGN: what a step needs must not be gone when it runs.
func TestWorkerStepsOrder(t *testing.T) {
	root := Posture{Name: "landlock", ABI: 7, SignalScope: true, OwnUID: true, Bounding: 2}
	want := []string{
		"prctl PR_SET_DUMPABLE 1", "setsid",
		"setgroups", "setresgid", "setresuid", "prctl PR_SET_DUMPABLE 1",
		"prctl PR_SET_PDEATHSIG SIGKILL", "getppid",
		"openat oom_score_adj", "write oom_score_adj", "close oom_score_adj",
		"prlimit64 RLIMIT_DATA", "prlimit64 RLIMIT_FSIZE", "prlimit64 RLIMIT_NOFILE", "prlimit64 RLIMIT_CORE",
		"prlimit64 RLIMIT_STACK", "prlimit64 RLIMIT_MSGQUEUE", "prlimit64 RLIMIT_RTPRIO", "prlimit64 RLIMIT_NICE",
		"prlimit64 RLIMIT_MEMLOCK", "prlimit64 RLIMIT_SIGPENDING", "prlimit64 RLIMIT_NPROC",
		"capset", "prctl PR_CAP_AMBIENT_CLEAR_ALL", "prctl PR_SET_NO_NEW_PRIVS",
		"landlock_restrict_self ruleset.worker", "seccomp SECCOMP_SET_MODE_FILTER",
	}
	if diff := cmp.Diff(want, names(root.WorkerSteps(testWorker))); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
	onlyRoot := []string{"setgroups", "setresgid", "setresuid", "prlimit64 RLIMIT_NPROC"}
	want = slices.DeleteFunc(want, func(s string) bool { return slices.Contains(onlyRoot, s) })
	want = slices.Delete(want, 2, 3) // the second PR_SET_DUMPABLE
	user := Posture{Name: "landlock", ABI: 7, SignalScope: true}
	if diff := cmp.Diff(want, names(user.WorkerSteps(testWorker))); diff != "" {
		t.Errorf("ordinary user (-want +got):\n%s", diff)
	}
}

func TestWorkerStepsValues(t *testing.T) {
	p := Posture{ABI: 7, OwnUID: true, Bounding: 41}
	byName := map[string]Step{}
	for _, s := range p.WorkerSteps(testWorker) {
		byName[s.Name] = s
	}
	if got := byName["setresuid"].Args; !cmp.Equal(got, []Arg{Int(4242), Int(4242), Int(4242)}) {
		t.Errorf("setresuid %v", got)
	}
	if got := byName["getppid"].Want; got != 7 {
		t.Errorf("getppid wants %d, want the reaper's pid 7", got)
	}
	if _, ok := byName["prctl PR_CAPBSET_DROP 40"]; !ok {
		t.Error("the last capability stays in the bounding set")
	}
	for name, want := range map[string]uint64{"DATA": 1000 + 1<<20, "FSIZE": 2 << 20, "NPROC": 9, "CORE": 1, "NICE": 0} {
		pair := byName["prlimit64 RLIMIT_"+name].Args[2].(Bytes).Data
		soft, hard := binary.NativeEndian.Uint64(pair), binary.NativeEndian.Uint64(pair[8:])
		if soft != want || hard != want {
			t.Errorf("RLIMIT_%s = %d, %d, want %d twice", name, soft, hard, want)
		}
	}
	fprog := byName["seccomp SECCOMP_SET_MODE_FILTER"].Args[2].(Bytes)
	if got := binary.NativeEndian.Uint16(fprog.Data); got != 3 || len(fprog.Pointers[8]) != 24 {
		t.Errorf("sock_fprog of %d instructions, %d bytes, want 3 and 24", got, len(fprog.Pointers[8]))
	}
}

// Without signal scope no domain is entered: there the filter and the sweep stand in.
func TestServerDomainNeedsScope(t *testing.T) {
	domain := "landlock_restrict_self ruleset.server"
	for _, scope := range []bool{true, false} {
		p := Posture{SignalScope: scope}
		for what, steps := range map[string][]Step{"server": p.ServerSteps(), "reaper": p.ReaperSteps()} {
			if got := slices.Contains(names(steps), domain); got != scope {
				t.Errorf("scope %t: %s enters the domain: %t", scope, what, got)
			}
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

func TestStepJSON(t *testing.T) {
	steps := []Step{
		{Name: "a", Nr: 1, Args: []Arg{Int(-100), FD("x"), Bytes{Data: []byte{0, 255}, Pointers: map[int][]byte{8: {1}}}}, Want: 3},
		{Name: "b", Nr: 2, Bind: "x"},
		{Name: "c", Nr: 3, Any: true},
	}
	got, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	want := `[["a",1,[-100,{"fd":"x"},{"bytes":"AP8=","pointers":{"8":"AQ=="}}],3,null],["b",2,[],null,"x"],["c",3,[],null,null]]`
	if string(got) != want {
		t.Errorf("steps = %s\nwant    %s", got, want)
	}
}

// The mask of the ABI takes rights out of the ruleset that is really made.
func TestHandledRights(t *testing.T) {
	tests := []struct {
		abi                           int
		refer, truncate, tcp, signals bool
	}{{1, false, false, false, false}, {2, true, false, false, false}, {3, true, true, false, false},
		{4, true, true, true, false}, {6, true, true, true, true}, {99, true, true, true, true}}
	for _, tt := range tests {
		c := handled(tt.abi)
		got := [4]bool{c.HandledAccessFS&ll.AccessFSRefer != 0, c.HandledAccessFS&ll.AccessFSTruncate != 0,
			c.HandledAccessNet != 0, c.Scoped&ll.ScopeSignal != 0}
		if want := [4]bool{tt.refer, tt.truncate, tt.tcp, tt.signals}; got != want {
			t.Errorf("handled(%d) = %v, want %v", tt.abi, got, want)
		}
	}
}

func TestWorkerRulesetIsMade(t *testing.T) {
	sandboxtest.Require(t, "landlock>=1")
	read := ReadList{Dirs: []string{"/usr"}, Files: []string{"/bin/sh"}}
	for abi := 1; abi <= Probe(0).LandlockABI; abi++ {
		fd, err := workerRuleset(abi, read, []string{t.TempDir()})
		if err != nil {
			t.Errorf("ABI %d: %v", abi, err)
			continue
		}
		unix.Close(fd)
	}
	if _, err := workerRuleset(1, ReadList{Dirs: []string{"/no/such/dir"}}, nil); err == nil {
		t.Error("a read list with a missing directory made a ruleset")
	}
}

func TestProbeMask(t *testing.T) {
	sandboxtest.Require(t, "landlock>=2")
	if got := Probe(1).LandlockABI; got != 1 {
		t.Errorf("Probe(1) finds ABI %d", got)
	}
}

func TestTmpfsMounts(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/shm", link); err != nil {
		t.Fatal(err)
	}
	if !isTmpfs("/dev/shm") {
		t.Fatal("/dev/shm is no tmpfs here")
	}
	if got := tmpfsMounts(link, "/dev/shm"); !slices.Equal(got, []string{link}) {
		t.Errorf("two names of one tmpfs = %q, want the first", got)
	}
	if got := tmpfsMounts("/proc", "/no/such"); got != nil {
		t.Errorf("tmpfsMounts(/proc) = %q", got)
	}
	if !mountBelow("/dev") {
		t.Error("no mount found below /dev")
	}
}
