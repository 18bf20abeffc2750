package forkserver

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// Worker is a confined, warm interpreter that waits for its one program.
type Worker struct {
	PID  int // as this process counts
	name int // the same as its reaper counts
	conn *conn
}

// WorkerSpec is what a worker is made of.
type WorkerSpec struct {
	Steps     []sandbox.Step
	Page      *Page
	Pipes     *Pipes
	Directory string   // absolute; made and entered at hand-over
	Env       []string // the program's whole environment
	FontList  string   // matplotlib's prebuilt list of fonts, or empty
}

// ForkWorker makes a worker below a reaper and waits until it is confined.
func (p *Process) ForkWorker(spec WorkerSpec) (*Worker, error) {
	env := make(map[string]string, len(spec.Env))
	for _, pair := range spec.Env {
		key, value, _ := strings.Cut(pair, "=")
		env[key] = value
	}
	c, ready, err := p.fork(request{Role: "worker", Steps: spec.Steps, Names: []string{"page"},
		Directory: spec.Directory, Env: env, FontList: spec.FontList}, spec.Page.fd(), spec.Pipes.ours[1], spec.Pipes.ours[2])
	if err != nil {
		return nil, named("worker", err)
	}
	if err := p.conn.send(request{Op: "rehearse"}); err != nil {
		c.Close()
		return nil, named("reaper", err)
	}
	return &Worker{PID: ready.Sender, name: ready.PID, conn: c}, nil
}

// Failure is why the worker ended before the program started, or nil when it
// did start: then its socket was closed without a word.
func (w *Worker) Failure() error {
	_, err := w.conn.receive(time.Millisecond)
	var step *sandbox.StepError
	if errors.As(err, &step) {
		return step
	}
	return nil
}

// Close ends a worker that was never used, and frees the socket of any.
func (w *Worker) Close() { w.conn.Close() }

// Page is one shared word in which a worker leaves its exit status. It is
// hostile input: any process of the run can write anything there at any time.
type Page struct {
	file   *os.File
	memory []byte
}

// NewPage makes a page of zeros that can't be shrunk: reading it can't fault.
func NewPage() (*Page, error) {
	fd, err := unix.MemfdCreate("status", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create status: %w", err)
	}
	file := os.NewFile(uintptr(fd), "status")
	size := os.Getpagesize()
	if err := errors.Join(file.Truncate(int64(size)), seal(fd)); err != nil {
		file.Close()
		return nil, fmt.Errorf("status page: %w", err)
	}
	memory, err := unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("mmap status: %w", err)
	}
	return &Page{file: file, memory: memory}, nil
}

func seal(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	return err
}

func (p *Page) fd() int { return int(p.file.Fd()) }

// Read takes the word as it is now. Every value is possible, none is trusted
// beyond the run that wrote it.
func (p *Page) Read() Status {
	return parseStatus(atomic.LoadUint32((*uint32)(unsafe.Pointer(&p.memory[0]))))
}

// Close frees the page. The word must not be read after it.
func (p *Page) Close() {
	_ = unix.Munmap(p.memory)
	p.file.Close()
}
