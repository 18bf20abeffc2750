package sandbox

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Slot is what a reaper's confinement depends on besides the posture.
type Slot struct {
	Root   []Entry // what the root directory is made of; in namespaces
	Limits Limits
}

// Worker is what one worker's confinement depends on besides the posture.
type Worker struct {
	Slot          int    // its number: the uid goes by it
	Parent        int    // pid of its reaper, for the check after PR_SET_PDEATHSIG
	InheritedData int64  // VmData of its fork server, bytes: counted by RLIMIT_DATA
	Filter        []byte // seccomp program
	Limits        Limits
}

// OpenFiles is how many descriptors a program may have. EMFILE above.
const OpenFiles = 512

const (
	stackBytes = 8 << 20
	oomScore   = "1000" // the kernel's OOM killer prefers the program over the server
)

// ServerSteps confine a fork server: out of reach for its workers, and unable
// to signal anything but what it forked.
func (p Posture) ServerSteps() []Step {
	if p.Namespaces {
		return p.namespaceServerSteps()
	}
	steps := []Step{
		prctl("PR_SET_DUMPABLE 0", unix.PR_SET_DUMPABLE, 0),
		prctl("PR_SET_NO_NEW_PRIVS", unix.PR_SET_NO_NEW_PRIVS, 1),
		// Orphans of a dead reaper come here, not to the init of the host.
		prctl("PR_SET_CHILD_SUBREAPER", unix.PR_SET_CHILD_SUBREAPER, 1),
	}
	return append(steps, p.enterServerDomain()...)
}

// ReaperSteps confine the process above a run: own session, parent of all orphans,
// and a signal domain in which kill(-1) hits exactly them. In namespaces they make
// the slot, and the reaper ends with its run; else it is persistent.
func (p Posture) ReaperSteps(s Slot) []Step {
	if p.Namespaces {
		return p.namespaceReaperSteps(s)
	}
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
	steps := p.sharedWorkerSteps
	if p.Namespaces {
		steps = p.namespaceWorkerSteps
	}
	// Last: every step before may need a call that the filter denies.
	return append(steps(w), installFilter(w.Filter))
}

// sharedWorkerSteps are those of a worker that shares the server's namespaces.
func (p Posture) sharedWorkerSteps(w Worker) []Step {
	steps := []Step{
		// A process forked from a non-dumpable one can't write its own /proc files.
		prctl("PR_SET_DUMPABLE 1", unix.PR_SET_DUMPABLE, 1),
		{Name: "setsid", Nr: unix.SYS_SETSID, Any: true},
	}
	steps = append(steps, dropBounding(p.Bounding)...)
	if p.OwnUID {
		steps = append(steps, setUID(p.UID(w.Slot))...)
	}
	steps = append(steps, dieWith(w.Parent)...)
	steps = append(steps, writeFile(Int(unix.AT_FDCWD), "/proc/self/oom_score_adj", oomScore)...)
	steps = append(steps, p.rlimits(w)...)
	steps = append(steps, noRights()...)
	if p.ABI == 0 {
		// Without Landlock a waiting worker would be open to a running one of its uid.
		return append(steps, prctl("PR_SET_DUMPABLE 0", unix.PR_SET_DUMPABLE, 0))
	}
	return append(steps, restrictSelf(RulesetWorker))
}

// dieWith ends the process with its parent, which must still be there. It comes
// after the last credential change, which clears it. See prctl(2).
func dieWith(parent int) []Step {
	return []Step{
		prctl("PR_SET_PDEATHSIG SIGKILL", unix.PR_SET_PDEATHSIG, int64(unix.SIGKILL)),
		{Name: "getppid", Nr: unix.SYS_GETPPID, Want: int64(parent)},
	}
}

// noRights empties every set of capabilities but the bounding one.
func noRights() []Step {
	return []Step{
		noCapabilities(),
		prctl("PR_CAP_AMBIENT_CLEAR_ALL", unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL),
		prctl("PR_SET_NO_NEW_PRIVS", unix.PR_SET_NO_NEW_PRIVS, 1),
	}
}

// CallSteps run at hand-over, when the run's own limits are known.
func (p Posture) CallSteps(timeout time.Duration) []Step {
	steps := []Step{rlimit("RLIMIT_CPU", unix.RLIMIT_CPU, uint64(CPULimit(timeout)/time.Second))}
	if p.Name == "container" {
		steps = append(steps, prctl("PR_SET_DUMPABLE 1", unix.PR_SET_DUMPABLE, 1))
	}
	return steps
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
		rlimit("RLIMIT_NOFILE", unix.RLIMIT_NOFILE, OpenFiles),
		// Not 0: a handler behind a pipe in core_pattern gets a dump all the same,
		// unless the limit is 1. See core(5) and do_coredump in the kernel.
		rlimit("RLIMIT_CORE", unix.RLIMIT_CORE, 1),
		rlimit("RLIMIT_STACK", unix.RLIMIT_STACK, stackBytes),
		rlimit("RLIMIT_MSGQUEUE", unix.RLIMIT_MSGQUEUE, p.queueBytes()),
		rlimit("RLIMIT_RTPRIO", unix.RLIMIT_RTPRIO, 0),
		rlimit("RLIMIT_NICE", unix.RLIMIT_NICE, 0),
		rlimit("RLIMIT_MEMLOCK", unix.RLIMIT_MEMLOCK, 0),
		rlimit("RLIMIT_SIGPENDING", unix.RLIMIT_SIGPENDING, OpenFiles),
	}
	if p.OwnUID || p.Namespaces {
		// Counts the uid on the whole node, which is this slot's alone; or the uid in
		// the run's own user namespace (Linux 5.14).
		limits = append(limits, rlimit("RLIMIT_NPROC", unix.RLIMIT_NPROC, uint64(w.Limits.Processes)))
	}
	return limits
}

// queueBytes is the kernel's default where message queues are the run's own.
func (p Posture) queueBytes() uint64 {
	if p.OwnIPC {
		return 819200
	}
	return 0
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

// Hide keeps this process's memory and environment from every other of its uid. In
// namespaces nobody sees it, and the id maps of its children could not be written.
func Hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return &StepError{Step: "prctl PR_SET_DUMPABLE 0", Err: err}
	}
	return nil
}
