package main

import (
	"fmt"
	"strings"

	"github.com/mcp-exec/mcp-exec/examples"
)

// A program of examples/, how it is called and how it has to end.
type program struct {
	title   string
	file    string
	stdin   string // a file of examples/, or empty
	timeout int    // timeout_s; 0: the server's default
	want    want
}

var programs = []program{
	{title: "What a program prints comes back", file: "hello.py",
		want: want{stdout: "Hello from Python"}},
	{title: "pandas over a CSV that comes in as stdin", file: "pandas_csv.py", stdin: "sales.csv",
		want: want{stdout: "690.0"}},
	{title: "A plot, drawn by matplotlib and saved", file: "plot.py",
		want: want{stdout: "wave.png: "}},
	{title: "A failure is an ordinary result, with its traceback", file: "failure.py",
		want: want{exit: 1, stdout: "mean of three: 3.0", stderr: "ZeroDivisionError: division by zero"}},
	{title: "A program without end, ended after 1 s; its output is kept", file: "timeout.py", timeout: 1,
		want: want{exit: -1, timedOut: true, stdout: "still here after 0.4 s"}},
	{title: "A hostile one: out to the network, the server's secrets and its life", file: "hostile.py",
		want: want{stdout: "reach the network", never: "ALLOWED"}},
}

func read(file string) string {
	b, err := examples.Files.ReadFile(file)
	if err != nil {
		panic(err) // embedded: a name in the table above is wrong
	}
	return string(b)
}

// arguments of the tools/call. What the caller leaves to the server is absent.
func (p program) arguments() map[string]any {
	args := map[string]any{"code": read(p.file)}
	if p.stdin != "" {
		args["stdin"] = read(p.stdin)
	}
	if p.timeout != 0 {
		args["timeout_s"] = p.timeout
	}
	return args
}

// result is the tool's structured content.
type result struct {
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	ExitCode   int    `json:"exit_code"`
	DurationMS int    `json:"duration_ms"`
	Truncated  bool   `json:"truncated"`
	TimedOut   bool   `json:"timed_out"`
	Note       string `json:"note"`
}

// want is how a program has to end; the texts are parts of a stream.
type want struct {
	exit     int
	timedOut bool
	stdout   string
	stderr   string // empty: nothing at all may be there
	never    string // must not be in stdout; empty: whatever it likes
}

func (w want) check(r result) error {
	switch {
	case r.ExitCode != w.exit || r.TimedOut != w.timedOut:
		return fmt.Errorf("exit code %d, timed out %t; want %d, %t", r.ExitCode, r.TimedOut, w.exit, w.timedOut)
	case !strings.Contains(r.Stdout, w.stdout):
		return fmt.Errorf("stdout %q lacks %q", r.Stdout, w.stdout)
	case w.never != "" && strings.Contains(r.Stdout, w.never):
		return fmt.Errorf("stdout has %q: the sandbox does not hold", w.never)
	case w.stderr == "" && r.Stderr != "":
		return fmt.Errorf("stderr %q, want it empty", r.Stderr)
	case !strings.Contains(r.Stderr, w.stderr):
		return fmt.Errorf("stderr %q lacks %q", r.Stderr, w.stderr)
	}
	return nil
}
