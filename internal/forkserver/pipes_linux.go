package forkserver

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// Pipes are the four descriptors of a run, made ahead: code, stdin, stdout and
// stderr, with our ends of the last three.
type Pipes struct {
	Stdin, Stdout, Stderr *os.File // ours; non-blocking

	code   *os.File
	theirs []int // the program's ends, plain blocking descriptors
	ours   []int // the numbers of our ends: os.File.Fd would make them blocking
}

// NewPipes makes them. The program, which runs as owner, may open its ends again
// by name (/dev/stdout); owner -1 leaves them to this process's uid.
func NewPipes(owner int) (*Pipes, error) {
	code, err := newMemfd("code")
	if err != nil {
		return nil, err
	}
	p := &Pipes{code: code}
	p.Stdin, err = p.add(false, owner)
	if err == nil {
		p.Stdout, err = p.add(true, owner)
	}
	if err == nil {
		p.Stderr, err = p.add(true, owner)
	}
	if err != nil {
		p.Close()
		return nil, &sandbox.StepError{Step: "pipe2", Err: err}
	}
	return p, nil
}

// add makes a pipe and returns our end of it.
func (p *Pipes) add(ourRead bool, owner int) (*os.File, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	ours, theirs := fds[0], fds[1]
	if !ourRead {
		ours, theirs = fds[1], fds[0]
	}
	p.theirs = append(p.theirs, theirs)
	err := unix.SetNonblock(ours, true)
	if err == nil && owner >= 0 {
		err = unix.Fchown(theirs, owner, owner)
	}
	if err != nil {
		unix.Close(ours)
		return nil, err
	}
	p.ours = append(p.ours, ours)
	return os.NewFile(uintptr(ours), "pipe"), nil
}

// release closes our copies of the program's ends: end of file must mean that
// the program has none left.
func (p *Pipes) release() {
	for _, fd := range p.theirs {
		unix.Close(fd)
	}
	p.theirs = nil
	p.code.Close()
}

// Close closes all that is still open.
func (p *Pipes) Close() {
	p.release()
	for _, file := range []*os.File{p.Stdin, p.Stdout, p.Stderr} {
		if file != nil {
			file.Close()
		}
	}
}

// ErrNotStarted means that the worker was gone and the program has not begun.
var ErrNotStarted = errors.New("the worker ended before it took the program")

// HandOver gives the worker its program; steps are made before its first
// instruction. An error means that it did not start.
func (w *Worker) HandOver(code string, p *Pipes, steps []sandbox.Step) error {
	defer p.release()
	if err := fill(p.code, []byte(code)); err != nil {
		return &sandbox.StepError{Step: "hand-over", Err: err}
	}
	err := w.conn.send(request{Steps: steps}, append([]int{int(p.code.Fd())}, p.theirs...)...)
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		return ErrNotStarted
	}
	return named("hand-over", err)
}
