//go:build linux

package e2e

import (
	"strings"
	"testing"
)

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, "MCP_EXEC_DEFAULT_TIMEOUT_S=2", "MCP_EXEC_MAX_TIMEOUT_S=3")
	const spin = "\nwhile True: pass"
	for _, tt := range []struct {
		name           string
		args           args
		seconds        int
		stdout, stderr string
	}{
		{"what was printed is kept", args{"code": "import time; print('kept')\ntime.sleep(60)", "timeout_s": 1}, 1, "kept\n", ""},
		{"stderr too", args{"code": "import sys; print('out'); print('err', file=sys.stderr)" + spin, "timeout_s": 1}, 1, "out\n", "err\n"},
		{"flushed part of a line", args{"code": "print('...', end='', flush=True)" + spin, "timeout_s": 1}, 1, "...", ""},
		{"nothing printed", args{"code": "while True: pass", "timeout_s": 1}, 1, "", ""},
		{"fraction", args{"code": "while True: pass", "timeout_s": 0.2}, 1, "", ""},
		{"default", args{"code": "while True: pass"}, 2, "", ""},
		{"ceiling", args{"code": "while True: pass", "timeout_s": 999}, 3, "", ""},
		{"every signal ignored", args{"code": "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nprint('deaf')" + spin, "timeout_s": 1}, 1, "deaf\n", ""},
		{"threads", args{"code": "import threading, time\nfor _ in range(4): threading.Thread(target=time.sleep, args=(60,)).start()\nprint('main ends')", "timeout_s": 1}, 1, "main ends\n", ""},
		{"atexit", args{"code": "import atexit, time\natexit.register(time.sleep, 60)\nprint('main ends')", "timeout_s": 1}, 1, "main ends\n", ""},
		{"del", args{"code": "import time\nclass C:\n    def __del__(self): time.sleep(60)\nc = C()\nprint('main ends')", "timeout_s": 1}, 1, "main ends\n", ""},
		{"stopped", args{"code": "import os, signal; print('stops'); os.kill(os.getpid(), signal.SIGSTOP)", "timeout_s": 1}, 1, "stops\n", ""},
		{"children", args{"code": "import os, time\nfor _ in range(3):\n    if os.fork() == 0: time.sleep(60)\nprint('waits', flush=True)\nos.wait()", "timeout_s": 1}, 1, "waits\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.in(t).call(tt.args)
			if !got.TimedOut || got.ExitCode != -1 || got.Stdout != tt.stdout || got.Stderr != tt.stderr || got.Note != "" {
				t.Errorf("%+v, want timed_out, exit_code -1, %q and %q", got, tt.stdout, tt.stderr)
			}
			if ms := got.DurationMS; ms < 1000*tt.seconds || ms > 1000*tt.seconds+30_000 {
				t.Errorf("duration_ms %d, want a little more than %d s", ms, tt.seconds)
			}
		})
	}
	if got := s.run("print('answers')"); got.Stdout != "answers\n" {
		t.Errorf("after the timeouts: %+v", got)
	}
}

// TestDuration is the run's own time: neither less than it sleeps nor with the
// time in the queue.
func TestDuration(t *testing.T) {
	t.Parallel()
	w := initialized(t)
	w.exec(args{"code": "import time; time.sleep(2)"})
	pause()
	w.exec(args{"code": "import time; time.sleep(0.3); print(1)"})
	first, second := structured(t, w.receive()), structured(t, w.receive())
	if first.DurationMS < 2000 {
		t.Errorf("duration_ms of a program that sleeps 2 s: %d", first.DurationMS)
	}
	if second.Stdout != "1\n" || second.DurationMS < 300 || second.DurationMS >= 2000 {
		t.Errorf("duration_ms of a program that sleeps 300 ms, after 2 s in the queue: %+v", second)
	}
}

// TestTimeoutInQueue: waiting for a turn does not use up the time of a call.
func TestTimeoutInQueue(t *testing.T) {
	t.Parallel()
	w := initialized(t)
	w.exec(args{"code": "import time; time.sleep(2)"})
	pause()
	w.exec(args{"code": "print('ran')", "timeout_s": 1})
	w.receive()
	if got := structured(t, w.receive()); got.TimedOut || got.Stdout != "ran\n" {
		t.Errorf("a call with 1 s that waited 2 s: %+v", got)
	}
}

// TestStragglers: the answer comes when the main program ends, whoever else
// holds its streams.
func TestStragglers(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, tt := range []struct{ name, code, want string }{
		{"child with stdout", "import os, time\nif os.fork() == 0:\n    time.sleep(300)\n    print('late')\n    os._exit(0)\nprint('done')", "done\n"},
		{"own session", "import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True); print('done')", "done\n"},
		{"double fork", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(300)\n    os._exit(0)\nos.wait()\nprint('done')", "done\n"},
		{"daemon thread", "import threading, time\nthreading.Thread(target=time.sleep, args=(300,), daemon=True).start()\nprint('done')", "done\n"},
		{"child that prints on", "import os\nif os.fork() == 0:\n    while True: os.write(1, b'')\nprint('done')", "done\n"},
		{"child that ignores signals", "import os, signal, time\nif os.fork() == 0:\n    for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n    while True: time.sleep(300)\nprint('done')", "done\n"},
		{"child of a program that is killed", "import os, time\nif os.fork() == 0:\n    time.sleep(300)\nprint('done')\nos.kill(os.getpid(), 9)", "done\n"},
		{"all streams closed by the program", "import os, time\nprint('done')\nif os.fork() == 0: time.sleep(300)\nos.closerange(0, 3)\nos._exit(0)", "done\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.in(t).call(args{"code": tt.code, "timeout_s": 100})
			if got.TimedOut || !strings.HasPrefix(got.Stdout, tt.want) {
				t.Errorf("%+v, want %q and no timeout", got, tt.want)
			}
			if got.DurationMS > 60_000 {
				t.Errorf("waited %d ms for what the program left behind", got.DurationMS)
			}
		})
	}
}
