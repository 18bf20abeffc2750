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
	PID    int
	Events <-chan Event // what it says unasked; closed when it is gone

	conn *conn
	cmd  *exec.Cmd // of the first fork server: ours to wait for
	once sync.Once // the waiting

	pidfd int // of a process that another one forked
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
	p := &Process{PID: cmd.Process.Pid, conn: c, cmd: cmd}
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
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	settings, err := memfd("init spec", data)
	if err != nil {
		return nil, err
	}
	defer settings.Close()
	stdin, err := endOfFile()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	cmd := &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        append([]string{sandbox.InitName}, spec.Names()...),
		Env:         []string{},
		Dir:         "/",
		Stdin:       stdin,
		Stdout:      log,
		Stderr:      log,
		ExtraFiles:  []*os.File{control, code, settings}, // ControlFD, ScriptFD, SpecFD
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		WaitDelay:   time.Second,
	}
	if err := startChild(cmd); err != nil {
		return nil, &sandbox.StepError{Step: "start init", Err: err}
	}
	return cmd, nil
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
	c, pid, err := p.fork(request{Role: "server", Steps: steps})
	if err != nil {
		return nil, named("fork server", err)
	}
	return forked(pid, c), nil
}

// forked is asked for right after the process has answered, so that the pid is its.
func forked(pid int, c *conn) *Process {
	p := &Process{PID: pid, conn: c}
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		p.pidfd = fd
	}
	return p
}

// ForkReaper makes the persistent process of a slot. scoped: Landlock bounds
// its kill(-1).
func (p *Process) ForkReaper(steps []sandbox.Step, scoped bool) (*Process, error) {
	c, pid, err := p.fork(request{Role: "reaper", Steps: steps, Scoped: scoped})
	if err != nil {
		return nil, named("reaper", err)
	}
	r := forked(pid, c)
	r.Watch()
	return r, nil
}

// Kill asks a reaper to end the run of the worker with this pid.
func (p *Process) Kill(pid int) error { return p.conn.send(request{Op: "kill", PID: pid}) }

// Sweep asks a reaper to empty directories.
func (p *Process) Sweep(directories []string) error {
	return p.conn.send(request{Op: "sweep", Sweep: directories})
}

func (p *Process) fork(r request, fds ...int) (*conn, int, error) {
	c, other, err := newPair()
	if err != nil {
		return nil, 0, err
	}
	control := os.NewFile(uintptr(other), "control socket")
	defer control.Close()
	r.Op = "fork"
	if err := p.conn.send(r, append([]int{other}, fds...)...); err != nil {
		c.Close()
		return nil, 0, err
	}
	control.Close() // else end of file would never come
	event, err := c.expect("ready", forkWait)
	if err != nil {
		c.Close()
		return nil, 0, err
	}
	return c, event.PID, nil
}

// Close ends the process and everything that it forked. It waits a bounded time.
func (p *Process) Close() {
	p.conn.Close()
	p.wakeUp()
	if p.cmd != nil {
		p.once.Do(p.reap)
	}
}

// wakeUp lets a process that a program has stopped see that its socket is closed.
func (p *Process) wakeUp() {
	if p.pidfd > 0 {
		_ = unix.PidfdSendSignal(p.pidfd, unix.SIGCONT, nil, 0)
		unix.Close(p.pidfd)
		p.pidfd = 0
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
