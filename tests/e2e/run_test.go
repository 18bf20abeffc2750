//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runCommand is `mcp-exec run`, in the container too, with its arguments.
func runCommand(t testing.TB, env []string, arguments ...string) *exec.Cmd {
	t.Helper()
	requireSandbox(t)
	cmd := command(env...)
	cmd.Args = append(append(cmd.Args, "run"), arguments...)
	return cmd
}

// shell is what a shell sees of a command.
type shell struct {
	status         int
	stdout, stderr string
}

func finished(t testing.TB, cmd *exec.Cmd, stdin string) shell {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(hang, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait() // the status tells
	return shell{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// programFile is a file with code. Tests that need one are not for the container, which
// does not see it.
func programFile(t testing.TB, code string) string {
	t.Helper()
	if inContainer() {
		t.Skip("the container does not see this machine's files")
	}
	path := filepath.Join(t.TempDir(), "program.py")
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const runNote = "mcp-exec: note: "

// TestRun: the program's streams and status are those of the command.
func TestRun(t *testing.T) {
	t.Parallel()
	flood := strings.Repeat("0123456789abcdef", 200_000)
	for _, tt := range []struct {
		name, code string
		flags      []string
		want       shell
	}{
		{"streams", "import sys\nprint('out')\nprint('err', file=sys.stderr)", nil, shell{0, "out\n", "err\n"}},
		{"status", "print(1)\nraise SystemExit(7)", nil, shell{7, "1\n", ""}},
		{"stdin is empty", "import sys\nprint(repr(sys.stdin.read()))", nil, shell{0, "''\n", ""}},
		{"bytes as they are", "import os\nos.write(1, b'\\xff\\x00\\xe2')\nos.write(2, b'\\xfe')", nil, shell{0, "\xff\x00\xe2", "\xfe"}},
		{"source as it is", "# coding: latin-1\nprint(ascii('\xe9'))", nil, shell{0, `'\xe9'` + "\n", ""}},
		{"no cap", "print('0123456789abcdef' * 200_000, end='')", nil, shell{0, flood, ""}},
		{"signal", "import os\nprint(1)\nos.kill(os.getpid(), 11)", nil, shell{139, "1\n", runNote + "killed_signal: ended by signal 11 (SIGSEGV)\n"}},
		{"time limit", "import time\nprint(1)\ntime.sleep(60)", []string{"--timeout-s=1"}, shell{124, "1\n", "mcp-exec: note: timed out after 1s\n"}},
		{"nothing printed", "1", nil, shell{0, "", runNote + "no_output: nothing was printed; use print() to see a value\n"}},
		{"streams are pipes", "import os, stat\nprint([stat.S_ISFIFO(os.fstat(n).st_mode) for n in range(3)])", nil, shell{0, "[True, True, True]\n", ""}},
		{"library", "import numpy\nprint(numpy.arange(4).sum())", nil, shell{0, "6\n", ""}},
		{"setting by flag", "import resource\nprint(resource.getrlimit(resource.RLIMIT_FSIZE)[0])", []string{"--workspace-bytes=2097152"}, shell{0, "2097152\n", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := finished(t, runCommand(t, nil, append(tt.flags, "-")...), tt.code)
			if got != tt.want {
				t.Errorf("run = %d, %.300q, %.300q; want %d, %.300q, %.300q", got.status, got.stdout, got.stderr,
					tt.want.status, tt.want.stdout, tt.want.stderr)
			}
		})
	}
}

// TestRunSandboxed: what it runs is as locked in as a call.
func TestRunSandboxed(t *testing.T) {
	t.Parallel()
	const code = "import os, socket\nprint(os.environ.get('MCP_EXEC_AUTH_TOKEN'))\nsocket.socket().connect(('192.0.2.1', 9))"
	got := finished(t, runCommand(t, []string{"MCP_EXEC_AUTH_TOKEN=secret"}, "-"), code)
	if got.status != 1 || got.stdout != "None\n" || !strings.Contains(got.stderr, runNote+"no_network: ") {
		t.Errorf("run = %+v", got)
	}
}

// TestRunJSON: the object of a call, on a line of its own, and the same status.
func TestRunJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code string
		status     int
		want       string // of the line, with D for the duration
	}{
		{"plain", "import sys\nprint('<é&>')\nprint('e', file=sys.stderr)\nsys.exit(3)", 3,
			`{"stdout":"<é&>\n","stderr":"e\n","exit_code":3,"duration_ms":D,"truncated":false,"timed_out":false}`},
		{"invalid bytes", "import os; os.write(1, b'\\xff')", 0,
			`{"stdout":"` + replacement + `","stderr":"","exit_code":0,"duration_ms":D,"truncated":false,"timed_out":false}`},
		{"cut", "print('x' * 99)", 0,
			`{"stdout":"xxxxxxxx","stderr":"","exit_code":0,"duration_ms":D,"truncated":true,"timed_out":false,"note":"output_cut: kept 8 of 100 bytes"}`},
		{"time limit", "import time\ntime.sleep(60)", 124,
			`{"stdout":"","stderr":"","exit_code":-1,"duration_ms":D,"truncated":false,"timed_out":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := finished(t, runCommand(t, []string{"MCP_EXEC_MAX_OUTPUT_BYTES=8"}, "--json", "--timeout-s=2", "-"), tt.code)
			var r result
			if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
				t.Fatalf("%v: %+v", err, got)
			}
			want := strings.Replace(tt.want, ":D,", fmt.Sprintf(":%d,", r.DurationMS), 1) + "\n"
			if got != (shell{tt.status, want, ""}) {
				t.Errorf("run --json = %+v, want %d, %s", got, tt.status, want)
			}
		})
	}
}

// TestRunStdin: what the shell gives the command the program reads.
func TestRunStdin(t *testing.T) {
	t.Parallel()
	const count = "import hashlib, sys\nd = sys.stdin.buffer.read()\nprint(len(d), hashlib.md5(d).hexdigest())"
	for _, tt := range []struct{ name, code, stdin, want string }{
		{"bytes as they are", "import sys\nprint(sys.stdin.buffer.read())", "\xff\x00\r\n", `b'\xff\x00\r\n'` + "\n"},
		{"empty", "import sys\nprint(repr(sys.stdin.read()))", "", "''\n"},
		{"more than the cap of a call", count, strings.Repeat("0123456789abcdef", 1<<18), "4194304 e230a73093573d16cc4d9a4f7373f4cb\n"},
		{"not read", "print('done')", strings.Repeat("x", 1<<20), "done\n"},
		{"closed by the program", "import os\nos.close(0)\nprint('done')", strings.Repeat("x", 1<<20), "done\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := finished(t, runCommand(t, nil, programFile(t, tt.code)), tt.stdin); got != (shell{0, tt.want, ""}) {
				t.Errorf("run = %+v, want %q", got, tt.want)
			}
		})
	}
}

// talk is a command that a test speaks with while it runs.
type talk struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr logBuffer
}

func converse(t testing.TB, cmd *exec.Cmd) *talk {
	t.Helper()
	c := &talk{cmd: cmd}
	cmd.Stderr = &c.stderr
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if c.out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // ignored where it has ended
	return c
}

// line is the next one that the program prints.
func (c *talk) line(t testing.TB) string {
	t.Helper()
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		var text []byte
		for b := make([]byte, 1); ; text = append(text, b[0]) {
			if _, err := c.out.Read(b); err != nil || b[0] == '\n' {
				done <- read{string(text), err}
				return
			}
		}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			t.Fatalf("after %q: %v; stderr: %s", r.text, r.err, &c.stderr)
		}
		return r.text
	case <-time.After(hang):
		t.Fatal("the program does not print")
	}
	return ""
}

// ends waits for the command, and says how it ended and after how long.
func (c *talk) ends(t testing.TB) (status int, took time.Duration) {
	t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })()
	state, err := c.cmd.Process.Wait() // Cmd.Wait would close what the test has not read
	if err != nil || ctx.Err() != nil {
		t.Fatalf("the command does not end: %v; stderr: %s", err, &c.stderr)
	}
	return state.ExitCode(), time.Since(begin)
}

// TestRunIsUnbuffered: question and answer, and an input without end that keeps
// nothing from ending.
func TestRunIsUnbuffered(t *testing.T) {
	t.Parallel()
	c := converse(t, runCommand(t, nil, programFile(t, "print('ready')\nfor line in iter(input, 'stop'):\n    print('got', line)\nprint('bye')")))
	if got := c.line(t); got != "ready" {
		t.Errorf("first line %q", got)
	}
	for n := range 3 {
		fmt.Fprintln(c.in, n)
		if got, want := c.line(t), fmt.Sprint("got ", n); got != want {
			t.Errorf("answer %q, want %q", got, want)
		}
	}
	fmt.Fprintln(c.in, "stop") // and the input stays open
	if got := c.line(t); got != "bye" {
		t.Errorf("last line %q", got)
	}
	if status, took := c.ends(t); status != 0 || took > patience {
		t.Errorf("status %d after %v", status, took)
	}
}

// TestRunExamples: files of the repository, as the README runs them.
func TestRunExamples(t *testing.T) {
	if inContainer() {
		t.Skip("the container does not see this machine's files")
	}
	got := finished(t, runCommand(t, nil, "--timeout-s", "5", "--json", "../../examples/hello.py"), "")
	if got.status != 0 || !strings.HasPrefix(got.stdout, `{"stdout":"Hello from Python`) || got.stderr != "" {
		t.Errorf("hello.py: %+v", got)
	}
	sales, err := os.ReadFile("../../examples/sales.csv")
	if err != nil {
		t.Fatal(err)
	}
	if got := finished(t, runCommand(t, nil, "../../examples/pandas_csv.py"), string(sales)); got.status != 0 || got.stdout == "" || got.stderr != "" {
		t.Errorf("pandas_csv.py: %+v", got)
	}
}
