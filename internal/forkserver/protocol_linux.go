package forkserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

const maxEvent = 1 << 16 // bytes of the longest event

// request is any message to a process; unused fields are left out.
type request struct {
	Op        string            `json:"op"`
	Role      string            `json:"role,omitempty"`
	Steps     []sandbox.Step    `json:"steps"`
	Before    []sandbox.Step    `json:"before"`
	After     []sandbox.Step    `json:"after"`
	Names     []string          `json:"names"`
	Modules   []string          `json:"modules,omitempty"`
	FontCache string            `json:"font_cache"`
	FontList  string            `json:"font_list"`
	Scoped    bool              `json:"scoped"`
	Sweep     []string          `json:"directories,omitempty"`
	PID       int               `json:"pid"`
	Directory string            `json:"directory,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

// Event is what a process says.
type Event struct {
	Kind    string            `json:"event"`
	PID     int               `json:"pid"`    // as the process that speaks counts
	Status  int               `json:"status"` // as wait4(2) reports it
	CPUMS   int64             `json:"cpu_ms"` // user and system time of the worker, milliseconds
	Data    int64             `json:"data"`   // VmData, bytes
	Missing map[string]string `json:"missing"`
	Step    string            `json:"step"`
	Path    string            `json:"path"`
	Errno   int               `json:"errno"`
	Error   string            `json:"error"`
	Sender  int               `json:"-"` // pid of who speaks, as we count: the kernel's word
}

// parseEvent reads one message. What is not an event is an error of the process.
func parseEvent(data []byte) (Event, error) {
	var event Event
	if err := json.Unmarshal(data, &event); err != nil {
		return Event{}, fmt.Errorf("control message: %w", err)
	}
	if event.Kind == "failed" {
		return event, &sandbox.StepError{Step: event.Step, Path: event.Path, Err: event.cause()}
	}
	return event, nil
}

func (e Event) cause() error {
	if e.Errno > 0 {
		return unix.Errno(e.Errno)
	}
	return errors.New(e.Error)
}

// conn is our end of a control socket.
type conn struct {
	*net.UnixConn
}

// newPair returns our end and the descriptor of the other, which the caller closes.
func newPair() (*conn, int, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, fmt.Errorf("socketpair: %w", err)
	}
	file := os.NewFile(uintptr(fds[0]), "control socket")
	defer file.Close()
	err = unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
	var c net.Conn
	if err == nil {
		c, err = net.FileConn(file)
	}
	if err != nil {
		unix.Close(fds[1])
		return nil, -1, fmt.Errorf("control socket: %w", err)
	}
	return &conn{c.(*net.UnixConn)}, fds[1], nil
}

func (c *conn) send(r request, fds ...int) error {
	// An empty list, not null, so that the other side needs no cases.
	for _, steps := range []*[]sandbox.Step{&r.Steps, &r.Before, &r.After} {
		*steps = append([]sandbox.Step{}, *steps...)
	}
	r.Names = append([]string{}, r.Names...)
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("control message: %w", err)
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	_, _, err = c.WriteMsgUnix(data, rights, nil)
	return err
}

// receive waits for the next event, at most for the given time.
func (c *conn) receive(wait time.Duration) (Event, error) {
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return Event{}, err
	}
	event, err := c.next(make([]byte, maxEvent))
	if reset := c.SetReadDeadline(time.Time{}); err == nil {
		err = reset
	}
	return event, err
}

func (c *conn) next(buffer []byte) (Event, error) {
	credentials := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	n, rights, _, _, err := c.ReadMsgUnix(buffer, credentials)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return Event{}, err
	}
	event, err := parseEvent(buffer[:n])
	event.Sender = sender(credentials[:rights])
	return event, err
}

// sender is the pid in the credentials that the kernel adds to a message (see
// SO_PASSCRED in unix(7)), or 0.
func sender(rights []byte) int {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return 0
	}
	credentials, err := unix.ParseUnixCredentials(&messages[0])
	if err != nil {
		return 0
	}
	return int(credentials.Pid)
}

// expect waits for one kind of event.
func (c *conn) expect(kind string, wait time.Duration) (Event, error) {
	event, err := c.receive(wait)
	if err != nil {
		return Event{}, err
	}
	if event.Kind != kind {
		return Event{}, fmt.Errorf("control message: %q, want %q", event.Kind, kind)
	}
	return event, nil
}
