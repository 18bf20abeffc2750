//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// isBusy reports whether a call was refused because the queue is full.
func isBusy(t *testing.T, a answer) bool {
	t.Helper()
	var call struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(a.Result, &call); err != nil || len(call.Content) != 1 {
		t.Fatalf("no tool result: %s", a.raw)
	}
	return call.IsError && strings.HasPrefix(call.Content[0].Text, "busy: ")
}

// TestQueueFull: one runs, one waits, the third is told at once.
func TestQueueFull(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		queue string
		calls int
	}{{"0", 2}, {"1", 3}, {"3", 5}} {
		t.Run("queue of "+tt.queue, func(t *testing.T) {
			w := initialized(t, "MCP_EXEC_MAX_QUEUE="+tt.queue)
			for range tt.calls {
				w.exec(args{"code": "import time; time.sleep(0.5); print(1)"})
			}
			if a := w.receive(); !isBusy(t, a) {
				t.Errorf("the first answer is %.300s, want busy", a.raw)
			}
			for range tt.calls - 1 {
				if got := structured(t, w.receive()); got.Stdout != "1\n" {
					t.Errorf("admitted call: %+v", got)
				}
			}
			w.exec(args{"code": "print(2)"})
			if got := structured(t, w.receive()); got.Stdout != "2\n" {
				t.Errorf("a call after the queue was full: %+v", got)
			}
		})
	}
}

// TestFirstComeFirstServed: whatever level of fork server a call needs.
func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	w := initialized(t)
	var sent, got []string
	for i := range 8 {
		code := "import time; time.sleep(0.3); print(1)"
		if i%2 == 1 {
			code = "import numpy; print(1)"
		}
		sent = append(sent, w.exec(args{"code": code}))
		pause()
	}
	for range sent {
		got = append(got, string(w.receive().ID))
	}
	if !slices.Equal(got, sent) {
		t.Errorf("answered in the order %v, want %v", got, sent)
	}
}

// TestCancelWaiting: a call whose client gives up leaves the queue at once,
// without an answer, and never runs.
func TestCancelWaiting(t *testing.T) {
	t.Parallel()
	w := initialized(t, "MCP_EXEC_MAX_QUEUE=1")
	running := w.exec(args{"code": "import time; time.sleep(60)"})
	pause()
	waiting := w.exec(args{"code": "import subprocess; subprocess.run(['sleep', '" + marker(t) + "'])"})
	pause()
	refused := w.exec(args{"code": "print('never')"})
	if a := w.receive(); string(a.ID) != refused || !isBusy(t, a) {
		t.Fatalf("while one runs and one waits: %.300s, want busy", a.raw)
	}
	w.cancel(waiting)
	pause()
	next := w.exec(args{"code": "print('ran')"})
	w.ping() // no refusal: there was a place
	w.cancel(running)
	if a := w.receive(); string(a.ID) != next || structured(t, a).Stdout != "ran\n" {
		t.Errorf("got %.300s, want the answer to the call that took the place", a.raw)
	}
	if pids := marked(t); len(pids) > 0 {
		t.Errorf("the cancelled call runs: pids %v", pids)
	}
	checkSilent(t, w, running, waiting)
}

// TestCancelRunning: the run is killed with all that it started, there is no
// answer, and the next call is served.
func TestCancelRunning(t *testing.T) {
	t.Parallel()
	w := initialized(t)
	for _, tt := range []struct{ name, code string }{
		{"child", "import subprocess; subprocess.run(['sleep', '%s'])"},
		{"own session", "import subprocess, time\nsubprocess.Popen(['sleep', '%s'], start_new_session=True)\ntime.sleep(600)"},
		{"data libraries", "import pandas, subprocess; subprocess.run(['sleep', '%s'])"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := w.exec(args{"code": strings.ReplaceAll(tt.code, "%s", marker(t)), "timeout_s": 300})
			eventually(t, "the program to run", func() bool { return len(marked(t)) > 0 })
			w.cancel(id)
			next := w.exec(args{"code": "print('next')"})
			if a := w.receive(); string(a.ID) != next || structured(t, a).Stdout != "next\n" {
				t.Errorf("got %.300s, want the answer to the next call", a.raw)
			}
			eventually(t, "the run to be gone", func() bool { return len(marked(t)) == 0 })
			w.cancel(id) // late and twice: ignored
			w.ping()
		})
	}
	checkSilent(t, w, "2", "4", "6")
}

// TestCancelBySDK is what a client that uses the SDK does: its context ends.
func TestCancelBySDK(t *testing.T) {
	t.Parallel()
	s := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		time.Sleep(300 * time.Millisecond)
		cancel()
	}()
	if res, err := s.raw(ctx, args{"code": "import time; time.sleep(600)", "timeout_s": 300}); err == nil {
		t.Errorf("a cancelled call: %s", text(res))
	}
	if got := s.run("print('next')"); got.Stdout != "next\n" {
		t.Errorf("the next call: %+v", got)
	}
}

// checkSilent ends the server and fails if one of the ids was ever answered.
func checkSilent(t *testing.T, w *wire, ids ...string) {
	t.Helper()
	status, rest := w.finish()
	if status != 0 {
		t.Errorf("the server ended with %d, want 0", status)
	}
	for _, line := range rest {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil || slices.Contains(ids, string(a.ID)) {
			t.Errorf("after the cancellation came %.300s", line)
		}
	}
}

// marker is an argument for sleep(1) that no other process has: by it the test
// finds what a program started, from outside, in a container as well.
func marker(t testing.TB) string {
	sum := crc32.ChecksumIEEE([]byte(t.Name()))
	return fmt.Sprintf("900.%d%d", os.Getpid(), sum)
}

// marked are the processes of this machine that have the test's marker as an
// argument.
func marked(t testing.TB) (pids []string) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, _ := os.ReadFile(file) // it may have ended
		if slices.Contains(strings.Split(string(data), "\x00"), marker(t)) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}
