package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const threadStack = 1 << 20 // RLIMIT_STACK of the fork servers: the size of a new thread's stack

// nrInodes bounds the files of each private tmpfs: an inode is about 1 KiB of
// kernel memory that no size= limit counts.
const nrInodes = 8192

// RunInit is the whole life of the init process. It returns only on failure,
// after it has reported the StepError on the control socket. names are those of
// the rulesets, InitSpec.Names.
func RunInit(names []string) error {
	// What follows is state of a thread: the one that calls execve keeps it.
	runtime.LockOSThread()
	err := becomeForkServer(names)
	report, _ := json.Marshal(newFailure(err))
	_, _ = unix.Write(ControlFD, report)
	return err
}

// failure is a StepError as it travels on a control socket.
type failure struct {
	Event string `json:"event"`
	Step  string `json:"step"`
	Path  string `json:"path,omitempty"`
	Errno int    `json:"errno"`
	Error string `json:"error"`
}

func newFailure(err error) failure {
	out := failure{Event: "failed", Step: "init", Error: err.Error()}
	var step *StepError
	if errors.As(err, &step) {
		out.Step, out.Path, out.Error = step.Step, step.Path, step.Err.Error()
	}
	var errno unix.Errno
	if errors.As(err, &errno) {
		out.Errno = int(errno)
	}
	return out
}

func becomeForkServer(names []string) error {
	spec, err := readSpec()
	if err != nil {
		return &StepError{Step: "read init spec", Err: err}
	}
	if err := prepare(spec); err != nil {
		return err
	}
	if err := heedSignals(); err != nil {
		return &StepError{Step: "rt_sigaction", Err: err}
	}
	if err := lowerStack(); err != nil {
		return &StepError{Step: "setrlimit RLIMIT_STACK", Err: err}
	}
	if err := unix.Chdir("/"); err != nil {
		return &StepError{Step: "chdir", Path: "/", Err: err}
	}
	argv := append([]string{spec.Python, fmt.Sprintf("/proc/self/fd/%d", ScriptFD)}, names...)
	return &StepError{Step: "execve", Path: spec.Python, Err: unix.Exec(spec.Python, argv, ServerEnv())}
}

// heedSignals undoes what nohup and the like have ignored: execve keeps that. By system
// call, because libc hides two signals that it uses itself.
func heedSignals() error {
	const ignored, most, setBytes = 1, 64, 8
	for number := uintptr(1); number <= most; number++ {
		var action struct{ handler, flags, restorer, mask uintptr }
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, number, 0, uintptr(unsafe.Pointer(&action)), setBytes, 0, 0)
		if errno != 0 || action.handler != ignored {
			continue
		}
		action.handler = 0 // SIG_DFL
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, number, uintptr(unsafe.Pointer(&action)), 0, setBytes, 0, 0); errno != 0 {
			return errno
		}
	}
	return nil
}

// prepare makes what the posture needs around the fork servers.
func prepare(spec InitSpec) error {
	switch p := spec.Posture; {
	case p.Namespaces:
		return enterRoot(spec)
	case p.OwnMounts:
		if err := privateMounts(p.Writable, spec.Size); err != nil {
			return err
		}
	}
	return openRulesets(spec)
}

func lowerStack() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_STACK, &limit); err != nil {
		return err
	}
	limit.Cur = min(limit.Max, threadStack)
	return unix.Setrlimit(unix.RLIMIT_STACK, &limit)
}

func readSpec() (InitSpec, error) {
	file := os.NewFile(SpecFD, "init spec")
	defer file.Close()
	var spec InitSpec
	err := json.NewDecoder(file).Decode(&spec)
	return spec, err
}

// privateMounts gives the runs of a server that is root on a bare host their
// own /tmp and /dev/shm, and a /proc in which a program sees its own uid only.
func privateMounts(writable []string, size int64) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return &StepError{Step: "unshare CLONE_NEWNS", Err: err}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return &StepError{Step: "mount MS_PRIVATE", Path: "/", Err: err}
	}
	if err := unix.Mount("tmpfs", writable[0], "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, tmpfsOptions(size)); err != nil {
		return &StepError{Step: "mount tmpfs", Path: writable[0], Err: err}
	}
	for _, dir := range writable[1:] { // one tmpfs, so that its size bounds them together
		if err := unix.Mount(writable[0], dir, "", unix.MS_BIND, ""); err != nil {
			return &StepError{Step: "mount MS_BIND", Path: dir, Err: err}
		}
	}
	// hidepid=2 (invisible): per mount since Linux 5.8.
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "hidepid=2"); err != nil {
		return &StepError{Step: "mount proc hidepid=2", Path: "/proc", Err: err}
	}
	return nil
}

// openRulesets leaves each ruleset at its descriptor, open across execve.
func openRulesets(spec InitSpec) error {
	if spec.Posture.ABI == 0 {
		return nil
	}
	worker, err := workerRuleset(spec.Posture.ABI, spec.Read, spec.Posture.Writable)
	if err != nil {
		return &StepError{Step: "landlock ruleset " + string(RulesetWorker), Err: err}
	}
	fds := []int{worker}
	if spec.Posture.SignalScope {
		server, err := serverRuleset()
		if err != nil {
			return &StepError{Step: "landlock ruleset " + string(RulesetServer), Err: err}
		}
		fds = append(fds, server)
	}
	for i, fd := range fds {
		if err := unix.Dup3(fd, RulesetFD+i, 0); err != nil {
			return &StepError{Step: "dup3", Err: err}
		}
	}
	return nil
}
