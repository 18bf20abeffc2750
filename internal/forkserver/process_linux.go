package forkserver

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// How long a process may take to answer; only a hang is longer.
const (
	startWait   = 60 * time.Second // a cold interpreter on a slow disk
	preloadWait = 120 * time.Second
	forkWait    = 30 * time.Second
)

// Process is a fork server or a reaper, seen from the server.
type Process struct {
	PID    int          // as this process counts
	Parent *Process     // that forked it; nil of the first fork server
	Events <-chan Event // what it says unasked; closed when it is gone

	conn *conn
	cmd  *exec.Cmd // of the first fork server: ours to wait for
	once sync.Once // the end: more than one may see that it has come

	pidfd int  // of a process that another one forked, or -1
	init  bool // the first of a pid namespace: its end is the end of all in it
}

// Start runs the init process, which builds the outer sandbox and becomes the
// first fork server, confined by steps. What its interpreter writes to stderr goes to log.
func Start(spec sandbox.InitSpec, steps []sandbox.Step, log io.Writer) (*Process, error) {
	c, other, err := newPair()
	if err != nil {
		return nil, err
	}
	control := os.NewFile(uintptr(other), "control socket")
	cmd, err := start(spec, control, log)
	control.Close() // else end of file would never come
	if err != nil {
		c.Close()
		return nil, err
	}
	p := &Process{PID: cmd.Process.Pid, conn: c, cmd: cmd, pidfd: -1}
	// An init that has failed is gone, but what it said can still be read.
	if err = p.conn.send(request{Op: "confine", Steps: steps}); err == nil || errors.Is(err, syscall.EPIPE) {
		_, err = p.conn.expect("ready", startWait)
	}
	if err != nil {
		p.Close()
		return nil, named("fork server", err)
	}
	return p, nil
}

func start(spec sandbox.InitSpec, control *os.File, log io.Writer) (*exec.Cmd, error) {
	code, err := script()
	if err != nil {
		return nil, err
	}
	defer code.Close()
	stdin, err := endOfFile()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	trees, err := openTrees(spec)
	if err != nil {
		return nil, err
	}
	defer closeAll(trees)
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	settings, err := memfd("init spec", data)
	if err != nil {
		return nil, err
	}
	defer settings.Close()
	cmd := &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        append([]string{sandbox.InitName}, spec.Names()...),
		Env:         []string{},
		Dir:         "/",
		Stdin:       stdin,
		Stdout:      log,
		Stderr:      log,
		ExtraFiles:  append([]*os.File{control, code, settings}, trees...), // ControlFD, ScriptFD, SpecFD, TreeFD
		SysProcAttr: attributes(spec.Posture),
		WaitDelay:   time.Second,
	}
	if err := startChild(cmd); err != nil {
		var path *os.PathError // "fork/exec /proc/self/exe" says less than the step
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, &sandbox.StepError{Step: startStep(spec.Posture), Err: err}
	}
	return cmd, nil
}

func startStep(p sandbox.Posture) string {
	if p.Namespaces {
		return "start init in new namespaces"
	}
	return "start init"
}

// attributes put init into namespaces of its own, as the root of a user namespace
// that is nobody on the host: an uid of its own, or the user's.
func attributes(p sandbox.Posture) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if !p.Namespaces {
		return attr
	}
	attr.Cloneflags = sandbox.CloneFlags
	ids := func(own int) []syscall.SysProcIDMap {
		if p.OwnUID {
			return []syscall.SysProcIDMap{{ContainerID: 0, HostID: p.FirstUID, Size: sandbox.MaxSlots + 1}}
		}
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: own, Size: 1}}
	}
	attr.UidMappings, attr.GidMappings = ids(os.Geteuid()), ids(os.Getegid())
	// Root's groups would go along; an ordinary user can't leave its own.
	attr.GidMappingsEnableSetgroups = p.OwnUID
	attr.Credential = &syscall.Credential{NoSetGroups: !p.OwnUID}
	return attr
}

// openTrees opens, as root, what the new root is made of: init could not reach it.
func openTrees(spec sandbox.InitSpec) ([]*os.File, error) {
	if !spec.Posture.OpenTrees {
		return nil, nil
	}
	var files []*os.File
	for _, e := range spec.Root {
		if e.Link != "" {
			continue
		}
		fd, err := sandbox.OpenTree(e)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, os.NewFile(uintptr(fd), e.Path))
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		file.Close()
	}
}

// endOfFile is a pipe, as the program's stdin will be one: the interpreter's
// stream objects are made at its start, once for all workers.
func endOfFile() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, &sandbox.StepError{Step: "pipe2", Err: err}
	}
	return r, w.Close()
}

// Preload imports modules and exercises them; what can't be imported is
// returned with the reason. data is the VmData that every child inherits.
func (p *Process) Preload(modules []string, fontCache string) (data int64, missing map[string]string, err error) {
	if err := p.conn.send(request{Op: "preload", Modules: modules, FontCache: fontCache}); err != nil {
		return 0, nil, named("preload", err)
	}
	event, err := p.conn.expect("preloaded", preloadWait)
	return event.Data, event.Missing, named("preload", err)
}

// Watch starts delivery of Events. After it nothing else reads the socket.
func (p *Process) Watch() {
	events := make(chan Event, 16)
	p.Events = events
	go func() {
		defer close(events)
		buffer := make([]byte, maxEvent)
		for {
			event, err := p.conn.next(buffer)
			var step *sandbox.StepError
			if err != nil && !errors.As(err, &step) {
				return
			}
			events <- event
		}
	}()
}

// ForkServer makes a child that forks in its turn.
func (p *Process) ForkServer(steps []sandbox.Step) (*Process, error) {
	c, ready, err := p.fork(request{Role: "server", Steps: steps})
	if err != nil {
		return nil, named("fork server", err)
	}
	return p.forked(ready, c)
}

// forked is asked for right after the process has answered, so that the pid is its.
func (p *Process) forked(ready Event, c *conn) (*Process, error) {
	fd, err := unix.PidfdOpen(ready.Sender, 0)
	if err != nil {
		c.Close() // which ends it
		return nil, &sandbox.StepError{Step: "pidfd_open", Err: err}
	}
	return &Process{PID: ready.Sender, Parent: p, conn: c, pidfd: fd, init: ready.PID == 1}, nil
}

// ReaperSpec is what a reaper is made of.
type ReaperSpec struct {
	Before, After []sandbox.Step // made by the fork server around its fork
	Steps         []sandbox.Step
	Enclosed      bool // its kill(-1) hits exactly the run
}

// ForkReaper makes the process above a run.
func (p *Process) ForkReaper(spec ReaperSpec) (*Process, error) {
	c, ready, err := p.fork(request{Role: "reaper", Before: spec.Before, After: spec.After,
		Steps: spec.Steps, Scoped: spec.Enclosed})
	if err != nil {
		return nil, named("reaper", err)
	}
	r, err := p.forked(ready, c)
	if err != nil {
		return nil, err
	}
	r.Watch()
	return r, nil
}

// Destroy ends a pid namespace by its first process, whatever state that is in, and
// returns when every process in it is gone.
func (p *Process) Destroy(wait time.Duration) error {
	if !p.init {
		return &sandbox.StepError{Step: "pidfd_send_signal", Err: errors.New("not the first process of a pid namespace")}
	}
	if err := unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return &sandbox.StepError{Step: "pidfd_send_signal", Err: err}
	}
	if err := p.awaitEnd(wait); err != nil {
		return &sandbox.StepError{Step: "poll pidfd", Err: err}
	}
	return nil
}

// awaitEnd: a pidfd is readable when the process is dead, which the kernel holds back
// for the first of a pid namespace until it is the last.
func (p *Process) awaitEnd(wait time.Duration) error {
	for deadline := time.Now().Add(wait); ; {
		fds := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(time.Until(deadline).Milliseconds())+1)
		switch {
		case err == nil && n > 0:
			return nil
		case err == nil:
			return errors.New("processes of the run are still there")
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}

// Kill asks a reaper to end the run of its worker.
func (p *Process) Kill(w *Worker) error { return p.conn.send(request{Op: "kill", PID: w.name}) }

// Sweep asks a reaper to empty directories.
func (p *Process) Sweep(directories []string) error {
	return p.conn.send(request{Op: "sweep", Sweep: directories})
}

func (p *Process) fork(r request, fds ...int) (*conn, Event, error) {
	c, other, err := newPair()
	if err != nil {
		return nil, Event{}, err
	}
	control := os.NewFile(uintptr(other), "control socket")
	defer control.Close()
	r.Op = "fork"
	if err := p.conn.send(r, append([]int{other}, fds...)...); err != nil {
		c.Close()
		return nil, Event{}, err
	}
	control.Close() // else end of file would never come
	event, err := c.expect("ready", forkWait)
	if err != nil {
		c.Close()
		return nil, Event{}, err
	}
	return c, event, nil
}

// Close ends the process and everything that it forked. It waits a bounded time.
func (p *Process) Close() {
	p.once.Do(func() {
		p.conn.Close()
		p.wakeUp()
		if p.cmd != nil {
			p.reap()
		}
	})
}

// wakeUp lets a process that a program has stopped see that its socket is closed. The
// first of a pid namespace need not see it.
func (p *Process) wakeUp() {
	if p.pidfd >= 0 {
		signal := unix.SIGCONT
		if p.init {
			signal = unix.SIGKILL // nothing in there is needed any more
		}
		_ = unix.PidfdSendSignal(p.pidfd, signal, nil, 0)
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
}

func (p *Process) reap() {
	timer := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	_ = waitChild(p.cmd)
}

// named says which process did not answer, unless the error names a step itself.
func named(step string, err error) error {
	var failed *sandbox.StepError
	if err == nil || errors.As(err, &failed) {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it ended without an answer; see its messages in the log")
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errors.New("no answer in time")
	}
	return &sandbox.StepError{Step: step, Err: err}
}
