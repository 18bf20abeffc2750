package forkserver

import (
	"errors"
	"testing"

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
