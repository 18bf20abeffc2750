package sandbox

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Worker is what one worker's confinement depends on besides the posture.
type Worker struct {
	Parent        int    // pid of its reaper, for the check after PR_SET_PDEATHSIG
	UID           int    // own uid and gid, with Posture.OwnUID
	InheritedData int64  // VmData of its fork server, bytes: counted by RLIMIT_DATA
	Filter        []byte // seccomp program
	Limits        Limits
}

const (
	openFiles  = 512 // EMFILE above
	stackBytes = 8 << 20
	oomScore   = "1000"
)

// ServerSteps confine a fork server: out of reach for its workers, and unable
// to signal anything but what it forked.
func (p Posture) ServerSteps() []Step {
	steps := []Step{
		prctl("PR_SET_DUMPABLE 0", unix.PR_SET_DUMPABLE, 0),
		prctl("PR_SET_NO_NEW_PRIVS", unix.PR_SET_NO_NEW_PRIVS, 1),
		// Orphans of a dead reaper come here, not to the init of the host.
		prctl("PR_SET_CHILD_SUBREAPER", unix.PR_SET_CHILD_SUBREAPER, 1),
	}
	return append(steps, p.enterServerDomain()...)
}

// ReaperSteps confine the persistent process of a slot: own session, parent of
// all orphans of a run, and a signal domain in which kill(-1) hits exactly them.
func (p Posture) ReaperSteps() []Step {
	steps := []Step{
		{Name: "setsid", Nr: unix.SYS_SETSID, Any: true},
		prctl("PR_SET_CHILD_SUBREAPER", unix.PR_SET_CHILD_SUBREAPER, 1),
	}
	return append(steps, p.enterServerDomain()...)
}

func (p Posture) enterServerDomain() []Step {
	if !p.SignalScope {
		return nil
	}
	return []Step{restrictSelf(RulesetServer)}
}

// WorkerSteps confine a worker, in the order that the kernel demands.
func (p Posture) WorkerSteps(w Worker) []Step {
	steps := []Step{
		// A process forked from a non-dumpable one can't write its own /proc files.
		prctl("PR_SET_DUMPABLE 1", unix.PR_SET_DUMPABLE, 1),
		{Name: "setsid", Nr: unix.SYS_SETSID, Any: true},
	}
	steps = append(steps, dropBounding(p.Bounding)...)
	if p.OwnUID {
		steps = append(steps, setUID(w.UID)...)
	}
	// After the last credential change, which clears it; then the parent must
	// still be there. See PR_SET_PDEATHSIG in prctl(2).
	steps = append(steps,
		prctl("PR_SET_PDEATHSIG SIGKILL", unix.PR_SET_PDEATHSIG, int64(unix.SIGKILL)),
		Step{Name: "getppid", Nr: unix.SYS_GETPPID, Want: int64(w.Parent)})
	steps = append(steps, oomScoreAdj()...)
	steps = append(steps, p.rlimits(w)...)
	return append(steps,
		noCapabilities(),
		prctl("PR_CAP_AMBIENT_CLEAR_ALL", unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL),
		prctl("PR_SET_NO_NEW_PRIVS", unix.PR_SET_NO_NEW_PRIVS, 1),
		restrictSelf(RulesetWorker),
		// Last: every step above may need a call that the filter denies.
		installFilter(w.Filter))
}

// CallSteps run at hand-over, when the run's own limits are known.
func CallSteps(timeout time.Duration) []Step {
	return []Step{rlimit("RLIMIT_CPU", unix.RLIMIT_CPU, uint64(CPULimit(timeout)/time.Second))}
}

// CPULimit is the processor time of one process of a run, in whole seconds: one
// that burns a single core meets the wall clock first. Above: SIGKILL.
func CPULimit(timeout time.Duration) time.Duration {
	return (timeout + time.Second - 1).Truncate(time.Second) + time.Second
}

func (p Posture) rlimits(w Worker) []Step {
	limits := []Step{
		rlimit("RLIMIT_DATA", unix.RLIMIT_DATA, uint64(w.InheritedData+w.Limits.MemoryBytes)),
		rlimit("RLIMIT_FSIZE", unix.RLIMIT_FSIZE, uint64(w.Limits.WorkspaceBytes)),
		rlimit("RLIMIT_NOFILE", unix.RLIMIT_NOFILE, openFiles),
		// Not 0: a handler behind a pipe in core_pattern gets a dump all the same,
		// unless the limit is 1. See core(5) and do_coredump in the kernel.
		rlimit("RLIMIT_CORE", unix.RLIMIT_CORE, 1),
		rlimit("RLIMIT_STACK", unix.RLIMIT_STACK, stackBytes),
		rlimit("RLIMIT_MSGQUEUE", unix.RLIMIT_MSGQUEUE, 0),
		rlimit("RLIMIT_RTPRIO", unix.RLIMIT_RTPRIO, 0),
		rlimit("RLIMIT_NICE", unix.RLIMIT_NICE, 0),
		rlimit("RLIMIT_MEMLOCK", unix.RLIMIT_MEMLOCK, 0),
		rlimit("RLIMIT_SIGPENDING", unix.RLIMIT_SIGPENDING, openFiles),
	}
	if p.OwnUID {
		// Counts the uid on the whole node, which is this slot's alone.
		limits = append(limits, rlimit("RLIMIT_NPROC", unix.RLIMIT_NPROC, uint64(w.Limits.Processes)))
	}
	return limits
}

func prctl(name string, option int, arg int64) Step {
	return Step{Name: "prctl " + name, Nr: unix.SYS_PRCTL, Args: []Arg{Int(option), Int(arg), Int(0), Int(0), Int(0)}}
}

func rlimit(name string, resource int, value uint64) Step {
	both := binary.NativeEndian.AppendUint64(nil, value)
	both = binary.NativeEndian.AppendUint64(both, value)
	return Step{Name: "prlimit64 " + name, Nr: unix.SYS_PRLIMIT64,
		Args: []Arg{Int(0), Int(resource), Bytes{Data: both}, Int(0)}}
}

// dropBounding leaves nothing that an exec could ever regain.
func dropBounding(count int) []Step {
	var steps []Step
	for c := range count {
		steps = append(steps, prctl(fmt.Sprintf("PR_CAPBSET_DROP %d", c), unix.PR_CAPBSET_DROP, int64(c)))
	}
	return steps
}

func setUID(id int) []Step {
	triple := []Arg{Int(id), Int(id), Int(id)}
	return []Step{
		{Name: "setgroups", Nr: unix.SYS_SETGROUPS, Args: []Arg{Int(0), Int(0)}},
		{Name: "setresgid", Nr: unix.SYS_SETRESGID, Args: triple},
		{Name: "setresuid", Nr: unix.SYS_SETRESUID, Args: triple},
		// A credential change makes the process non-dumpable again.
		prctl("PR_SET_DUMPABLE 1", unix.PR_SET_DUMPABLE, 1),
	}
}

// oomScoreAdj makes the kernel's OOM killer prefer the program over the server.
func oomScoreAdj() []Step {
	const path = "/proc/self/oom_score_adj\x00"
	return []Step{
		{Name: "openat oom_score_adj", Nr: unix.SYS_OPENAT, Bind: "oom_score_adj",
			Args: []Arg{Int(unix.AT_FDCWD), Bytes{Data: []byte(path)}, Int(unix.O_WRONLY | unix.O_CLOEXEC), Int(0)}},
		{Name: "write oom_score_adj", Nr: unix.SYS_WRITE, Want: int64(len(oomScore)),
			Args: []Arg{FD("oom_score_adj"), Bytes{Data: []byte(oomScore)}, Int(len(oomScore))}},
		{Name: "close oom_score_adj", Nr: unix.SYS_CLOSE, Args: []Arg{FD("oom_score_adj")}},
	}
}

// noCapabilities empties the effective, permitted and inheritable sets.
func noCapabilities() Step {
	header := binary.NativeEndian.AppendUint32(nil, unix.LINUX_CAPABILITY_VERSION_3)
	header = binary.NativeEndian.AppendUint32(header, 0)
	return Step{Name: "capset", Nr: unix.SYS_CAPSET,
		Args: []Arg{Bytes{Data: header}, Bytes{Data: make([]byte, 24)}}}
}

func restrictSelf(ruleset FD) Step {
	return Step{Name: "landlock_restrict_self " + string(ruleset), Nr: unix.SYS_LANDLOCK_RESTRICT_SELF,
		Args: []Arg{ruleset, Int(0)}}
}

// installFilter passes a struct sock_fprog: the number of instructions, and at
// offset 8 their address. See seccomp(2), Linux 3.17.
func installFilter(program []byte) Step {
	const instruction = 8 // bytes of struct sock_filter
	fprog := make([]byte, 16)
	binary.NativeEndian.PutUint16(fprog, uint16(len(program)/instruction))
	return Step{Name: "seccomp SECCOMP_SET_MODE_FILTER", Nr: unix.SYS_SECCOMP,
		Args: []Arg{Int(unix.SECCOMP_SET_MODE_FILTER), Int(0), Bytes{Data: fprog, Pointers: map[int][]byte{8: program}}}}
}
