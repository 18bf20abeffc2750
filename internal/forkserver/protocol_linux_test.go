package forkserver

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func TestParseEvent(t *testing.T) {
	event, err := parseEvent([]byte(`{"event": "exit", "pid": 7, "status": 256, "cpu_ms": 3}`))
	if err != nil || event.Kind != "exit" || event.PID != 7 || event.Status != 256 || event.CPUMS != 3 {
		t.Errorf("exit = %+v, %v", event, err)
	}
	_, err = parseEvent([]byte(`{"event": "failed", "step": "setresuid", "errno": 22}`))
	var step *sandbox.StepError
	if !errors.As(err, &step) || step.Step != "setresuid" || !errors.Is(err, unix.EINVAL) {
		t.Errorf("failed = %v, want setresuid: EINVAL", err)
	}
	if _, err := parseEvent([]byte("]")); err == nil || errors.As(err, &step) {
		t.Errorf("garbage = %v", err)
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"event": "failed", "step": "x", "errno": -1, "error": "y"}`))
	f.Add([]byte(`{"event": 3}`))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		event, err := parseEvent(data)
		if err == nil && event.Kind == "failed" {
			t.Errorf("parseEvent(%q) hides a failure", data)
		}
		if err != nil && err.Error() == "" {
			t.Errorf("parseEvent(%q): an error without a word", data)
		}
	})
}

// newTestPair is a control socket with both ends in this process.
func newTestPair(t *testing.T) (ours *conn, theirs int) {
	t.Helper()
	ours, theirs, err := newPair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ours.Close()
		unix.Close(theirs)
	})
	return ours, theirs
}

// Who speaks is the kernel's word, not the message's.
func TestSender(t *testing.T) {
	ours, theirs := newTestPair(t)
	if _, err := unix.Write(theirs, []byte(`{"event": "ready", "pid": 1, "sender": 2, "Sender": 3}`)); err != nil {
		t.Fatal(err)
	}
	event, err := ours.expect("ready", time.Second)
	if err != nil || event.PID != 1 || event.Sender != os.Getpid() {
		t.Errorf("ready = %+v, %v, want pid 1 and sender %d", event, err, os.Getpid())
	}
}

// What a process sends along is not kept.
func TestSentDescriptorsAreNotTaken(t *testing.T) {
	ours, theirs := newTestPair(t)
	before := openDescriptors(t)
	for range 3 {
		if err := unix.Sendmsg(theirs, []byte(`{"event": "ready"}`), unix.UnixRights(theirs, theirs), nil, 0); err != nil {
			t.Fatal(err)
		}
		if event, err := ours.expect("ready", time.Second); err != nil || event.Sender != os.Getpid() {
			t.Errorf("ready = %+v, %v, want sender %d", event, err, os.Getpid())
		}
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestSenderOfNothing(t *testing.T) {
	for _, rights := range [][]byte{nil, {1, 2, 3}, unix.UnixRights(1)} {
		if got := sender(rights); got != 0 {
			t.Errorf("sender(%v) = %d, want 0", rights, got)
		}
	}
}

func TestExpect(t *testing.T) {
	ours, theirs := newTestPair(t)
	if _, err := ours.expect("ready", time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("silence = %v, want a deadline that has passed", err)
	}
	if _, err := unix.Write(theirs, []byte(`{"event": "gone"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.expect("ready", time.Second); err == nil || !strings.Contains(err.Error(), `"gone", want "ready"`) {
		t.Errorf("another event = %v", err)
	}
	unix.Shutdown(theirs, unix.SHUT_RDWR)
	if _, err := ours.expect("ready", time.Second); !errors.Is(err, io.EOF) {
		t.Errorf("a closed socket = %v, want EOF", err)
	}
}

// Lists that are empty are said to be, so that the other side needs no cases.
func TestSend(t *testing.T) {
	ours, theirs := newTestPair(t)
	if err := ours.send(request{Op: "fork", Role: "reaper", Before: []sandbox.Step{{Name: "x", Nr: 1}}}, theirs); err != nil {
		t.Fatal(err)
	}
	buffer, rights := make([]byte, 1000), make([]byte, 100)
	n, r, _, _, err := unix.Recvmsg(theirs, buffer, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil || r == 0 {
		t.Fatalf("%d bytes of rights, %v", r, err)
	}
	var got map[string]any
	if err := json.Unmarshal(buffer[:n], &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int{"steps": 0, "before": 1, "after": 0, "names": 0} {
		if list, ok := got[key].([]any); !ok || len(list) != want {
			t.Errorf("%s = %v, want a list of %d", key, got[key], want)
		}
	}
}

// A page is read as it is, whatever a run wrote, and can't be shrunk under us.
func TestPage(t *testing.T) {
	page, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	if got := page.Read(); got != (Status{}) {
		t.Errorf("a new page reads %+v", got)
	}
	if _, err := unix.Pwrite(page.fd(), []byte{7, 1, 2, 0}, 0); err != nil {
		t.Fatal(err)
	}
	if got, want := page.Read(), (Status{Done: true, Exit: 7, Reason: NoMemory}); got != want {
		t.Errorf("page = %+v, want %+v", got, want)
	}
	if err := unix.Ftruncate(page.fd(), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("shrinking the page: %v, want EPERM", err)
	}
}

func TestSourceIsSealed(t *testing.T) {
	pipes, err := NewPipes(-1)
	if err != nil {
		t.Fatal(err)
	}
	defer pipes.Close()
	if err := fill(pipes.code, []byte("print(1)")); err != nil {
		t.Fatal(err)
	}
	if _, err := pipes.code.WriteAt([]byte("x"), 0); err == nil {
		t.Error("the program's source can be changed")
	}
}
