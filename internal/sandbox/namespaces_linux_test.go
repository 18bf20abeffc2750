package sandbox

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

var testSlot = Slot{Limits: Limits{WorkspaceBytes: 8 << 20}}

// spaces is the posture of a root with all there is, changed.
func spaces(change func(*Posture)) Posture {
	p := Posture{Name: "namespaces", Namespaces: true, OwnIPC: true, ABI: 7, OwnUID: true, FirstUID: 5000, Bounding: 2,
		Temp: "/tmp", Writable: []string{"/tmp", "/dev/shm"}}
	change(&p)
	return p
}

func asUser(p *Posture)     { p.OwnUID = false }
func noLandlock(p *Posture) { p.ABI = 0 }
func noOwnIPC(p *Posture)   { p.OwnIPC = false }
func asItIs(*Posture)       {}

func TestNamespaceForkSteps(t *testing.T) {
	p := spaces(asItIs)
	before, after := p.ForkSteps()
	if diff := cmp.Diff([]string{"unshare CLONE_NEWPID"}, names(before)); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"setns CLONE_NEWPID"}, names(after)); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	opened := p.ServerSteps()[1]
	if diff := cmp.Diff([]string{"prctl PR_SET_NO_NEW_PRIVS", "openat /proc/self/ns/pid"}, names(p.ServerSteps())); diff != "" {
		t.Errorf("server (-want +got):\n%s", diff)
	}
	if got := after[0].Args[0]; got != FD(opened.Bind) {
		t.Errorf("setns to %v, want what the server opened as %q", got, opened.Bind)
	}
}

func TestNamespaceReaperSteps(t *testing.T) {
	unshared := []string{"setsid", "unshare CLONE_NEWNS|NEWNET|NEWIPC|NEWCGROUP"}
	loopback := slices.Concat([]string{"socket AF_INET", "ioctl SIOCSIFFLAGS lo", "close"},
		wrote("/proc/sys/net/ipv4/tcp_rmem"), wrote("/proc/sys/net/ipv4/tcp_wmem"))
	var ipc []string
	for _, name := range []string{"shmmax", "shmall", "shmmni", "msgmni", "msgmnb", "sem"} {
		ipc = append(ipc, wrote("/proc/sys/kernel/"+name)...)
	}
	ipc = append(ipc, "mount /dev/mqueue")
	proc := []string{"mount /proc", "open_tree /proc", "mount_setattr /proc"}
	tmp := []string{"mount /tmp", "mount /dev/shm"}
	root := []Entry{{Path: "/usr", Dir: true}, {Path: "/tmp/py", Dir: true}, {Path: "/tmp/bin/python"}, {Path: "/tmp/link", Link: "/usr"}}
	tests := []struct {
		name string
		root []Entry
		p    Posture
		want [][]string
	}{
		{"root", root[:1], spaces(asItIs), [][]string{unshared, loopback, ipc, proc, tmp}},
		{"user", root[:1], spaces(asUser), [][]string{unshared, loopback, ipc, proc, tmp}},
		{"limits of ipc objects can't be set", root[:1], spaces(noOwnIPC), [][]string{unshared, loopback, proc, tmp}},
		{"one writable mount", root[:1], spaces(func(p *Posture) { p.Writable = p.Writable[:1] }),
			[][]string{unshared, loopback, ipc, proc, tmp[:1]}},
		{"interpreter below /tmp", root, spaces(noOwnIPC), [][]string{unshared, loopback, proc,
			{"open_tree /tmp/py", "open_tree /tmp/bin/python"}, tmp,
			{"mkdirat /tmp/py", "move_mount /tmp/py", "close"},
			{"mkdirat /tmp/bin", "openat /tmp/bin/python", "close", "move_mount /tmp/bin/python", "close"},
			{"symlinkat /tmp/link"}}},
	}
	for _, tt := range tests {
		s := testSlot
		s.Root = tt.root
		steps := tt.p.ReaperSteps(s)
		if diff := cmp.Diff(slices.Concat(tt.want...), names(steps)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		descriptorsAreBound(t, tt.name, steps, nil)
	}
}

// descriptorsAreBound: a step uses only what an earlier one has opened and none has closed.
func descriptorsAreBound(t *testing.T, what string, steps []Step, inherited []FD) {
	t.Helper()
	open := map[FD]bool{}
	for _, fd := range inherited {
		open[fd] = true
	}
	for _, s := range steps {
		for _, fd := range descriptorsOf(s) {
			if !open[fd] {
				t.Errorf("%s: %s uses %q, which is not open", what, s.Name, fd)
			}
			open[fd] = s.Name != "close"
		}
		if s.Bind != "" {
			open[FD(s.Bind)] = true
		}
	}
}

func descriptorsOf(s Step) []FD {
	var found []FD
	for _, a := range s.Args {
		switch a := a.(type) {
		case FD:
			found = append(found, a)
		case Bytes:
			for _, fd := range a.FDs {
				found = append(found, fd)
			}
		}
	}
	return found
}

// Two trees below /tmp come back as two, each from its own descriptor.
func TestCoveredTrees(t *testing.T) {
	root := []Entry{{Path: "/tmp/a", Dir: true}, {Path: "/tmp/b", Dir: true}}
	steps := byName(spaces(asItIs).ReaperSteps(Slot{Root: root}))
	for _, path := range []string{"/tmp/a", "/tmp/b"} {
		opened, moved := steps["open_tree "+path], steps["move_mount "+path]
		if FD(opened.Bind) != moved.Args[0] {
			t.Errorf("%s opened as %q, moved from %q", path, opened.Bind, moved.Args[0])
		}
		if diff := cmp.Diff(Text(path), moved.Args[3]); diff != "" {
			t.Errorf("move_mount %s (-want +got):\n%s", path, diff)
		}
	}
}

func TestNamespaceReaperValues(t *testing.T) {
	steps := byName(spaces(asItIs).ReaperSteps(testSlot))
	if got := steps["unshare CLONE_NEWNS|NEWNET|NEWIPC|NEWCGROUP"].Args[0]; got != Int(0x4a020000) {
		t.Errorf("unshare %#x, want 0x4a020000", got)
	}
	request := steps["ioctl SIOCSIFFLAGS lo"].Args[2].(Bytes).Data
	if got := binary.NativeEndian.Uint16(request[16:]); unix.ByteSliceToString(request[:16]) != "lo" || got != unix.IFF_UP|unix.IFF_RUNNING || len(request) != 40 {
		t.Errorf("ifreq = %v, want lo with flags up and running", request)
	}
	attr := steps["mount_setattr /proc"].Args[3].(Bytes).Data
	if got := binary.NativeEndian.Uint64(attr); got != unix.MOUNT_ATTR_RDONLY || slices.ContainsFunc(attr[8:], func(b byte) bool { return b != 0 }) || len(attr) != 32 {
		t.Errorf("mount_attr = %v, want read-only set, nothing cleared", attr)
	}
	for name, options := range map[string]string{"/proc": "hidepid=ptraceable", "/tmp": "mode=1777,size=8388608,nr_inodes=8192"} {
		if got := steps["mount "+name].Args[4]; !cmp.Equal(got, Text(options)) {
			t.Errorf("mount %s with %q, want %q", name, got, options)
		}
	}
	for name, want := range map[string]string{"shmmax": "8388608", "shmall": "2048", "shmmni": "64"} {
		step := steps["write /proc/sys/kernel/"+name]
		if got := step.Args[1].(Bytes).Data; string(got) != want || step.Want != int64(len(want)) {
			t.Errorf("%s = %q, wants %d bytes written; want %q", name, got, step.Want, want)
		}
	}
}

func TestNamespaceWorkerSteps(t *testing.T) {
	ownSpace := slices.Concat([]string{"unshare CLONE_NEWUSER"}, wrote("self/setgroups"), wrote("self/gid_map"),
		wrote("self/uid_map"), wrote("self/oom_score_adj"),
		wrote("sys/user/max_inotify_instances"), wrote("sys/user/max_inotify_watches"))
	rules := func(writable ...string) []string {
		ruleset := []string{"landlock_create_ruleset"}
		for _, path := range slices.Concat([]string{"/"}, writable, []string{"/dev/null", "/dev/zero", "/dev/full"}) {
			ruleset = append(ruleset, "openat "+path, "landlock_add_rule "+path, "close")
		}
		return append(ruleset, "landlock_restrict_self ruleset.worker")
	}
	ruleset := rules("/tmp", "/dev/shm", "/dev/mqueue")
	session := []string{"setsid"}
	tests := []struct {
		name string
		p    Posture
		want [][]string
	}{
		{"root", spaces(asItIs), [][]string{session, ownUIDNames, ownSpace, parentNames, limitNames, ownProcessLimit, noRightsNames, ruleset, filterName}},
		{"user", spaces(asUser), [][]string{session, ownSpace, parentNames, limitNames, ownProcessLimit, noRightsNames, ruleset, filterName}},
		{"root without Landlock", spaces(noLandlock), [][]string{session, ownUIDNames, ownSpace, parentNames, limitNames, ownProcessLimit, noRightsNames, filterName}},
		{"without limits of ipc objects", spaces(noOwnIPC), [][]string{session, ownUIDNames, ownSpace, parentNames, limitNames, ownProcessLimit, noRightsNames, rules("/tmp", "/dev/shm"), filterName}},
	}
	for _, tt := range tests {
		steps := tt.p.WorkerSteps(testWorker)
		if diff := cmp.Diff(slices.Concat(tt.want...), names(steps)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		descriptorsAreBound(t, tt.name, steps, []FD{fdProc})
	}
}

func TestNamespaceWorkerValues(t *testing.T) {
	for _, tt := range []struct {
		name   string
		p      Posture
		idMap  string
		queues uint64
	}{
		{"root", spaces(asItIs), "65532 4 1\n", 819200}, // slot 3: 0 is the fork servers'
		{"user", spaces(asUser), "65532 0 1\n", 819200},
		{"without limits of ipc objects", spaces(noOwnIPC), "65532 4 1\n", 0},
	} {
		steps := byName(tt.p.WorkerSteps(testWorker))
		for file, want := range map[string]string{"uid_map": tt.idMap, "gid_map": tt.idMap, "setgroups": "deny", "oom_score_adj": "1000"} {
			step := steps["write self/"+file]
			if got := step.Args[1].(Bytes).Data; string(got) != want || step.Want != int64(len(want)) {
				t.Errorf("%s: %s = %q, wants %d bytes written; want %q", tt.name, file, got, step.Want, want)
			}
			if got := steps["openat self/"+file].Args[0]; got != fdProc {
				t.Errorf("%s: %s opened below %v, want the proc that can be written to", tt.name, file, got)
			}
		}
		if got := steps["getppid"].Want; got != 1 {
			t.Errorf("%s: getppid wants %d, want the first of its pid namespace", tt.name, got)
		}
		if _, ok := steps["prctl PR_CAPBSET_DROP 1"]; !ok {
			t.Errorf("%s: the last capability stays in the bounding set", tt.name)
		}
		for name, want := range map[string]uint64{"NPROC": 9, "MSGQUEUE": tt.queues} {
			checkLimit(t, steps, name, want)
		}
	}
	if got := byName(spaces(asItIs).WorkerSteps(testWorker))["setresuid"].Args[0]; got != Int(4) {
		t.Errorf("setresuid %v, want 4, as the fork servers' namespace counts", got)
	}
}

// The rights in each rule are among those that the ABI knows: the kernel refuses others.
func TestOwnRuleset(t *testing.T) {
	for _, tt := range []struct{ abi, scoped int }{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 3}, {7, 3}} {
		steps := spaces(func(p *Posture) { p.ABI = tt.abi }).ownRuleset()
		attr := steps[0].Args[0].(Bytes).Data
		handledFS, net, scoped := binary.NativeEndian.Uint64(attr), binary.NativeEndian.Uint64(attr[8:]), binary.NativeEndian.Uint64(attr[16:])
		if handledFS != uint64(handled(tt.abi).HandledAccessFS) || net != 0 || scoped != uint64(tt.scoped) || steps[0].Args[1] != Int(24) {
			t.Errorf("ABI %d: ruleset handles %#x, TCP %#x, scopes %#x", tt.abi, handledFS, net, scoped)
		}
		for _, s := range steps {
			path, isRule := strings.CutPrefix(s.Name, "landlock_add_rule ")
			if isRule {
				checkRule(t, fmt.Sprintf("ABI %d: %s", tt.abi, path), s.Args, handledFS, path == "/")
			}
		}
	}
}

func checkRule(t *testing.T, what string, args []Arg, handledFS uint64, readOnly bool) {
	t.Helper()
	rule := args[2].(Bytes)
	rights := binary.NativeEndian.Uint64(rule.Data)
	if rights == 0 || rights&^handledFS != 0 {
		t.Errorf("%s: rights %#x, of %#x", what, rights, handledFS)
	}
	if writes := rights&ll.AccessFSWriteFile != 0; writes == readOnly {
		t.Errorf("%s: may be written to: %t", what, writes)
	}
	if len(rule.Data) != 12 || !cmp.Equal(rule.FDs, map[int]FD{8: fdFile}) {
		t.Errorf("%s: rule of %d bytes, descriptors %v, want 12 and one at 8", what, len(rule.Data), rule.FDs)
	}
	if args[0] != fdRules || args[1] != Int(unix.LANDLOCK_RULE_PATH_BENEATH) || args[3] != Int(0) {
		t.Errorf("%s: arguments %v", what, args)
	}
}
