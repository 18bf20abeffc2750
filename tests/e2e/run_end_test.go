//go:build linux

package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// soon is how long an ending may take that something outside has asked for.
const soon = 5 * time.Second

// gone fails the test when processes that were below a command are still there.
func gone(t testing.TB, pids []int) {
	t.Helper()
	eventually(t, "a process of the run is left", func() bool {
		for _, pid := range pids {
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
				return false
			}
		}
		return true
	})
}

// stubborn is a program that nothing but a kill ends, with children.
const stubborn = `
import os, signal, time
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(s, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    os.fork()
    time.sleep(300)
print('running')
time.sleep(300)
`

// TestRunSignals: Ctrl-C and its like kill the run.
func TestRunSignals(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(s.String(), func(t *testing.T) {
			c := converse(t, runCommand(t, nil, "--timeout-s=120", "-"))
			fmt.Fprint(c.in, stubborn)
			c.in.Close()
			if got := c.line(t); got != "running" {
				t.Fatalf("first line %q", got)
			}
			below := descendants(c.cmd.Process.Pid)
			if err := c.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			status, took := c.ends(t)
			if status != 128+int(s) || took > soon || c.stderr.String() != "" {
				t.Errorf("status %d after %v, stderr %q; want %d, nothing", status, took, &c.stderr, 128+int(s))
			}
			if len(below) < 3 && !inContainer() {
				t.Errorf("only %d processes below the command", len(below))
			}
			gone(t, below)
		})
	}
}

// TestRunWithoutReader: who reads only the first line ends the run, a program
// that writes on and one that is silent.
func TestRunWithoutReader(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"writes on": "while True:\n    print('line')",
		"is silent": "import time\nprint('line')\ntime.sleep(300)",
	} {
		t.Run(name, func(t *testing.T) {
			c := converse(t, runCommand(t, nil, "--timeout-s=120", programFile(t, code)))
			if got := c.line(t); got != "line" {
				t.Errorf("first line %q", got)
			}
			below := descendants(c.cmd.Process.Pid)
			c.out.Close()
			status, took := c.ends(t)
			if status != 128+int(syscall.SIGPIPE) || took > soon || c.stderr.String() != "" {
				t.Errorf("status %d after %v, stderr %q; want %d, nothing", status, took, &c.stderr, 128+int(syscall.SIGPIPE))
			}
			gone(t, below)
		})
	}
	t.Run("has ended", func(t *testing.T) {
		c := converse(t, runCommand(t, nil, programFile(t, "print('line')\nraise SystemExit(5)")))
		c.line(t)
		c.out.Close()
		if status, _ := c.ends(t); status != 5 {
			t.Errorf("status %d, want the program's own, 5", status)
		}
	})
}

// TestRunSlowReader: a reader that takes nothing keeps neither the time limit nor a
// kill from their work.
func TestRunSlowReader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code string
		status     int
		signal     syscall.Signal
	}{
		{"without end", "while True:\n    print('x' * 999)", 124, 0},
		{"ended, with more than fits", "import os\nos.write(1, b'x' * 150_000)", 124, 0},
		{"signal", "while True:\n    print('x' * 999)", 143, syscall.SIGTERM},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := converse(t, runCommand(t, nil, "--timeout-s=3", programFile(t, tt.code)))
			if tt.signal != 0 {
				time.Sleep(2 * time.Second) // so that everything is full
				_ = c.cmd.Process.Signal(tt.signal)
			}
			status, took := c.ends(t)
			if status != tt.status || took > 3*time.Second+soon {
				t.Errorf("status %d after %v, want %d", status, took, tt.status)
			}
		})
	}
	t.Run("takes it in the end", func(t *testing.T) {
		c := converse(t, runCommand(t, nil, "--timeout-s=60", programFile(t, "import os\nos.write(1, b'x' * 399_999 + b'\\n')")))
		time.Sleep(2 * time.Second)
		if got := c.line(t); len(got) != 399_999 {
			t.Errorf("%d bytes", len(got))
		}
		if status, _ := c.ends(t); status != 0 {
			t.Errorf("status %d", status)
		}
	})
}

// TestRunFullDisk: output that can't be written is our failure, not the program's.
func TestRunFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	var stderr strings.Builder
	cmd := runCommand(t, nil, programFile(t, "while True:\n    print('line')"))
	cmd.Stdout, cmd.Stderr = full, &stderr
	_ = cmd.Run() // the status tells
	const want = "mcp-exec: error: output: write /dev/stdout: no space left on device\n"
	if status := cmd.ProcessState.ExitCode(); status != 1 || stderr.String() != want {
		t.Errorf("status %d, stderr %q; want 1, %q", status, &stderr, want)
	}
}

// TestRunRefuses says in one line what is wrong with the command line, before
// there is any sandbox.
func TestRunRefuses(t *testing.T) {
	if inContainer() {
		t.Skip("what it makes of its arguments does not depend on where it runs")
	}
	ok := programFile(t, "print(1)")
	for _, tt := range []struct {
		name string
		env  []string
		args []string
		says string
	}{
		{"no file", nil, []string{"missing.py"}, "missing.py: no such file or directory"},
		{"a directory", nil, []string{"/"}, "read /: is a directory"},
		{"no argument", nil, nil, "<file>"},
		{"one argument more", nil, []string{ok, "more"}, "unexpected argument more"},
		{"empty", nil, []string{"/dev/null"}, "code /dev/null is empty"},
		{"only white space", nil, []string{programFile(t, " \n\t")}, "is empty"},
		{"too large", []string{"MCP_EXEC_MAX_CODE_BYTES=7"}, []string{ok}, "more than 7 bytes, the limit (MCP_EXEC_MAX_CODE_BYTES)"},
		{"endless", nil, []string{"/dev/zero"}, "more than 1048576 bytes"},
		{"no number", nil, []string{"--timeout-s=soon", ok}, `--timeout-s="soon": want a whole number from 1 to 300`},
		{"above the ceiling", []string{"MCP_EXEC_MAX_TIMEOUT_S=40"}, []string{"--timeout-s=41", ok}, `--timeout-s="41": want a whole number from 1 to 40`},
		{"a bad setting", []string{"MCP_EXEC_MAX_PIDS=many"}, []string{ok}, "MCP_EXEC_MAX_PIDS"},
		{"a flag of serve alone", nil, []string{"--transport=stdio", ok}, "--transport"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, stdout, stderr := startOnce(t, tt.env, append([]string{"run"}, tt.args...)...)
			if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tt.says) {
				t.Errorf("status %d, stdout %q, stderr %q; want 2, nothing, one line with %q", status, stdout, stderr, tt.says)
			}
		})
	}
}
