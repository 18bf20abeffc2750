package pool

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// run is one program in one worker, from hand-over to the answer.
type run struct {
	slot    *slot
	pool    *Pool
	pipes   *forkserver.Pipes
	streams *sandbox.Streams // or nil
	out     *output
	stdout  *stream
	stderr  *stream
	watch   *watch
	timeout time.Duration
	started time.Time
	exited  *forkserver.Event // what the reaper said of its main process
}

// execute hands the program over and waits for its end. Every process of the
// run has been sent SIGKILL when it returns.
func (s *slot) execute(ctx context.Context, req sandbox.Request, outputCap int) (sandbox.Result, error) {
	s.pool.active.Add(1)
	defer s.pool.active.Add(-1)
	if !s.pool.posture.Enclosed() {
		// A running program's filter knows only those of our processes that were
		// there before it, so none is forked beside it; and a stopped worker, which
		// an earlier program may have left behind, is woken.
		s.pool.forking.Lock()
		defer s.pool.forking.Unlock()
		_ = unix.Kill(s.worker.PID, unix.SIGCONT)
	}
	r := s.newRun(req, outputCap)
	defer r.pipes.Close()
	if err := r.start(req); err != nil {
		return sandbox.Result{}, err
	}
	res, err := r.finish(ctx)
	if errors.Is(err, forkserver.ErrNotStarted) && r.streams != nil { // their input can't be read again
		err = &sandbox.StepError{Step: "worker", Err: errors.New("it ended before the program began")}
	}
	return res, err
}

func (s *slot) newRun(req sandbox.Request, outputCap int) *run {
	r := &run{slot: s, pool: s.pool, pipes: s.pipes, streams: req.Streams, timeout: req.Timeout,
		watch: s.pool.newWatch(s.reaper.PID), out: newOutput(outputCap)}
	var to sandbox.Streams
	if r.streams != nil {
		to = *r.streams
	}
	r.stdout = newStream(r.pipes.Stdout, r.out.divert(to.Stdout, &r.out.stdout))
	r.stderr = newStream(r.pipes.Stderr, r.out.divert(to.Stderr, &r.out.stderr))
	s.pipes = nil
	return r
}

// start hands the program over.
func (r *run) start(req sandbox.Request) error {
	r.slot.used = true
	r.started = time.Now()
	if err := r.slot.worker.HandOver(req.Code, r.pipes, r.pool.posture.CallSteps(req.Timeout)); err != nil {
		r.watch.stop()
		r.slot.used = !errors.Is(err, forkserver.ErrNotStarted)
		return err
	}
	if r.streams != nil && r.streams.Stdin != nil {
		go pump(r.pipes.Stdin, r.streams.Stdin)
	} else {
		go feed(r.pipes.Stdin, req.Stdin)
	}
	go r.stdout.read()
	go r.stderr.read()
	return nil
}

// feed writes stdin; a program that does not read it, or ends, is no failure.
func feed(w *os.File, text string) {
	_, _ = w.WriteString(text)
	w.Close()
}

// pump is feed for what is not there yet. Only the bare interfaces: by the files'
// own methods Go would splice(2), and pages of the caller's would be in a pipe of
// the program's.
func pump(w *os.File, from io.Reader) {
	_, _ = io.Copy(struct{ io.Writer }{w}, struct{ io.Reader }{from})
	w.Close()
}

// finish waits for the end, and makes of it what the caller gets.
func (r *run) finish(ctx context.Context) (sandbox.Result, error) {
	end, err := r.wait(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	took := time.Since(r.started)
	end = r.deliver(ctx, end)
	if end == causeCancel {
		return sandbox.Result{}, ctx.Err()
	}
	if r.exited != nil && !r.slot.page.Read().Started {
		return sandbox.Result{}, cmp.Or(r.slot.worker.Failure(), forkserver.ErrNotStarted)
	}
	return r.result(end, took), nil
}

// wait returns when the run is over and killed, and says what ended it.
func (r *run) wait(ctx context.Context) (cause, error) {
	timer := time.NewTimer(r.timeout)
	defer timer.Stop()
	defer r.watch.stop()
	stdout, stderr := r.stdout.end, r.stderr.end
	for {
		select {
		case <-stdout:
			stdout = nil
		case <-stderr:
			stderr = nil
		case event, ok := <-r.slot.reaper.Events:
			if !ok {
				return causeNone, r.reaperLost()
			}
			if event.Kind == "killed" { // the reaper saw the end before we did
				return causeNone, nil
			}
			if event.Kind == "exit" {
				r.exited = &event
				return r.exitCause(event), nil
			}
		case <-timer.C:
			return causeTimeout, r.slot.kill()
		case <-ctx.Done():
			return causeCancel, r.slot.kill()
		case <-r.watch.tick():
			c, err := r.watch.check()
			if err != nil {
				return c, r.blind(err)
			}
			if c != causeNone {
				return c, r.slot.kill()
			}
		}
		// The program has closed everything and said that it is at its end.
		if stdout == nil && stderr == nil && r.slot.page.Read().Done {
			return causeNone, r.slot.kill()
		}
	}
}

// youngRun is how long a run may have lasted whose reaper was dying when it began.
const youngRun = time.Second

// reaperLost ends the run without its reaper. A run that had just begun is begun
// again elsewhere: it has left nothing behind.
func (r *run) reaperLost() error {
	r.slot.broken = true
	if err := r.pool.lastResort(r.slot); err != nil {
		return err
	}
	return r.lost()
}

// blind ends a run that the watchdog can't see, which may notice before we do that
// the reaper is gone.
func (r *run) blind(err error) error {
	if err := r.slot.kill(); err != nil {
		return err
	}
	if r.slot.broken {
		return r.lost()
	}
	return err
}

func (r *run) lost() error {
	if time.Since(r.started) < youngRun {
		return forkserver.ErrNotStarted
	}
	return &sandbox.StepError{Step: "reaper", Err: errors.New("it ended during the run")}
}

// exitCause tells the kernel's kills apart from a program's own.
func (r *run) exitCause(event forkserver.Event) cause {
	status := syscall.WaitStatus(event.Status)
	if !status.Signaled() {
		return causeNone
	}
	if status.Signal() == syscall.SIGKILL && r.watch.outOfMemory() {
		return causeMemory
	}
	// The kernel's own count, which is the one that kills, runs a little ahead of
	// what wait4(2) reports.
	limit := sandbox.CPULimit(r.timeout).Milliseconds() * 9 / 10
	if s := status.Signal(); (s == syscall.SIGKILL || s == syscall.SIGXCPU) && event.CPUMS >= limit {
		return causeCPU
	}
	return causeNone
}

// lastWords is how long the reader of a stream gets for what is left of a run that
// had to be ended.
const lastWords = time.Second

// deliver takes what the pipes still hold, without waiting for more. Who reads a
// stream that is passed on may be slow: the wall-clock limit covers that too, as it
// would for a program that writes there itself. What is not taken by then is lost.
func (r *run) deliver(ctx context.Context, end cause) cause {
	if r.streams == nil {
		r.stdout.drain()
		r.stderr.drain()
		return end
	}
	patience, cancelled := lastWords, ctx.Done()
	switch end {
	case causeNone:
		patience = max(patience, r.timeout-time.Since(r.started))
	case causeCancel:
		cancelled = nil
	}
	select {
	case <-r.drained():
		return end
	case <-cancelled:
		return causeCancel
	case <-time.After(patience):
		return cmp.Or(end, causeTimeout)
	}
}

// drained is closed when both streams are where they go.
func (r *run) drained() <-chan struct{} {
	done := make(chan struct{})
	var both sync.WaitGroup
	both.Go(r.stdout.drain)
	both.Go(r.stderr.drain)
	go func() { both.Wait(); close(done) }()
	return done
}

// result is made from what was read.
func (r *run) result(c cause, took time.Duration) sandbox.Result {
	e := ending{cause: c}
	e.status, e.signal = r.status(c)
	if status := r.slot.page.Read(); status.Done {
		e.reason = status.Reason
	}
	stdout, stderr, cut := r.out.split()
	e.cut, e.kept, e.total = cut, int64(len(stdout)+len(stderr)), r.out.total()+r.out.passed.Load()
	res := sandbox.Result{Stdout: stdout, Stderr: stderr, ExitCode: e.status, Duration: took, Truncated: cut,
		TimedOut: c == causeTimeout, Note: e.note(r.pool.environment)}
	if res.TimedOut {
		res.ExitCode = -1
	}
	return res
}

// status is the exit status as a shell would show it, and the signal, if any.
func (r *run) status(c cause) (status, signal int) {
	page := r.slot.page.Read()
	waited := syscall.WaitStatus(syscall.SIGKILL)
	if r.exited != nil {
		waited = syscall.WaitStatus(r.exited.Status)
	}
	switch {
	case waited.Exited():
		return waited.ExitStatus(), 0
	case waited.Signal() == syscall.SIGKILL && page.Done && c == causeNone: // killed after its end
		return page.Exit, 0
	}
	return 128 + int(waited.Signal()), int(waited.Signal())
}

// stream reads one pipe until end of file, or until drained.
type stream struct {
	file *os.File
	to   io.Writer     // never fails
	end  chan struct{} // closed at end of file or when reading stops
}

func newStream(file *os.File, to io.Writer) *stream {
	return &stream{file: file, to: to, end: make(chan struct{})}
}

func (s *stream) read() {
	defer close(s.end)
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.file.Read(buffer)
		_, _ = s.to.Write(buffer[:n])
		if err != nil {
			return
		}
	}
}

// drain stops the reader and takes what the pipe still holds, without waiting:
// a killed process that is being torn down may hold the other end.
func (s *stream) drain() {
	_ = s.file.SetReadDeadline(time.Unix(1, 0))
	<-s.end
	buffer := make([]byte, 64<<10)
	for n := s.left(buffer); n > 0; n = s.left(buffer) {
		_, _ = s.to.Write(buffer[:n])
	}
}

// left reads what is there. The descriptor is not held while that is written: it
// could not be closed meanwhile.
func (s *stream) left(buffer []byte) (n int) {
	raw, err := s.file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), buffer) })
	return n
}
