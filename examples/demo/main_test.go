package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fakeMode makes this test binary the server that the demo starts.
const fakeMode = "MCP_EXEC_DEMO_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(fakeMode) {
	case "":
		os.Exit(m.Run())
	case "refuses":
		fmt.Fprintln(os.Stderr, "error: no posture holds here\nhint: use the docker line")
		os.Exit(1)
	case "crashes":
		os.Exit(0)
	default:
		serveFake()
	}
}

func serveFake() {
	s := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "0.1"}, nil)
	s.AddTool(&mcp.Tool{
		Name:        "exec",
		Description: "Runs Python.",
		InputSchema: map[string]any{"type": "object", "required": []string{"code"}, "properties": map[string]any{
			"code": map[string]any{"type": "string"}, "timeout_s": map[string]any{"type": "integer"}}},
	}, fakeExec)
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

func fakeExec(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	mode := os.Getenv(fakeMode)
	if mode == "busy" {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "busy: later"}}}, nil
	}
	answer := map[string]any{"stdout": "", "stderr": "", "exit_code": 0, "duration_ms": 1}
	for code, a := range fakeAnswers(mode) {
		if strings.Contains(string(req.Params.Arguments), code) {
			answer = a
		}
	}
	return &mcp.CallToolResult{StructuredContent: answer}, nil
}

// fakeAnswers has for a piece of each program what it has to give.
func fakeAnswers(mode string) map[string]map[string]any {
	answer := func(code int, stdout, stderr string) map[string]any {
		return map[string]any{"stdout": stdout, "stderr": stderr, "exit_code": code, "timed_out": code == -1, "duration_ms": 1004}
	}
	refusal := "reach the network    refused: EPERM\n"
	if mode == "leaks" {
		refusal = "reach the network    ALLOWED\n"
	}
	libraries := 0
	if mode == "bare" {
		libraries = 1
	}
	return map[string]map[string]any{
		"numpy, pandas, matplotlib": answer(libraries, "", ""),

		"Hello from":   answer(0, "Hello from Python 3.13.5\n", ""),
		"read_csv":     answer(0, "north       2   690.0  345.0\n", ""),
		"savefig":      answer(0, "wave.png: 24117 bytes\n", ""),
		"mean of none": answer(1, "mean of three: 3.0\n", "ZeroDivisionError: division by zero\n"),
		"itertools":    answer(-1, "still here after 0.0 s\nstill here after 0.4 s\n", ""),
		"ancestors":    answer(0, refusal, ""),
	}
}

func TestRun(t *testing.T) {
	tests := []struct {
		name, mode     string
		status         int
		stdout, stderr string
	}{
		{"all as expected", "ok", 0, "6 programs, all as expected", ""},
		{"tool is listed", "ok", 0, "exec(code: string, timeout_s?: integer)", ""},
		{"timeout is shown", "ok", 0, "timed out after 1004 ms", ""},
		{"line to paste", "ok", 0, "-e MCP_EXEC_TRANSPORT=stdio -e 'MCP_EXEC_PYTHON=/a b/python' -- /", ""},
		{"line for the container", "ok", 0, "-- docker run -i --rm mcp-exec:dev\n", ""},
		{"summary", "ok", 0, "ms, 1 attempts to break out, all refused\n", ""},
		{"how to use it without Docker", "ok", 0, "without a container", ""},
		{"libraries", "ok", 0, "first call with numpy, pandas and matplotlib ", ""},
		{"no libraries", "bare", 0, "; this Python has no numpy, pandas or matplotlib\n", ""},
		{"sandbox leaks", "leaks", exitUnexpected, "NOT AS EXPECTED", "hostile.py: stdout has \"ALLOWED\""},
		{"tool error", "busy", exitUnexpected, "", "first call: tool error: busy: later"},
		{"server refuses", "refuses", exitRefused, "starting", "error: no posture holds here\nhint: use the docker line"},
		{"server ends at once", "crashes", exitUnexpected, "", "start server: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(fakeMode, tt.mode)
			t.Setenv("MCP_EXEC_PYTHON", "/a b/python")
			var stdout, stderr bytes.Buffer
			if got := run(t.Context(), os.Args[0], &stdout, &stderr); got != tt.status {
				t.Errorf("run = %d, want %d", got, tt.status)
			}
			if !strings.Contains(stdout.String(), tt.stdout) || strings.Contains(stdout.String(), "\x1b") {
				t.Errorf("stdout = %q, want %q in it and no colour", stdout.String(), tt.stdout)
			}
			if !strings.Contains(stderr.String(), tt.stderr) || tt.stderr == "" && stderr.Len() > 0 {
				t.Errorf("stderr = %q, want %q in it", stderr.String(), tt.stderr)
			}
		})
	}
}

func TestRunWithoutServer(t *testing.T) {
	var stdout, stderr bytes.Buffer
	got := run(t.Context(), t.TempDir()+"/none", &stdout, &stderr)
	if got != exitUnexpected || !strings.Contains(stderr.String(), "no such file") {
		t.Errorf("run = %d, stderr %q; want %d, no such file", got, stderr.String(), exitUnexpected)
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name string
		want want
		got  result
		err  string
	}{
		{"as wanted", want{exit: 1, stdout: "a", stderr: "b"}, result{ExitCode: 1, Stdout: "xa", Stderr: "bx"}, ""},
		{"exit code", want{}, result{ExitCode: 1}, "exit code 1, timed out false; want 0, false"},
		{"timed out", want{exit: -1}, result{ExitCode: -1, TimedOut: true}, "exit code -1, timed out true; want -1, false"},
		{"stdout", want{stdout: "a"}, result{Stdout: "b"}, `stdout "b" lacks "a"`},
		{"stderr not empty", want{}, result{Stderr: "warning"}, `stderr "warning", want it empty`},
		{"stderr", want{stderr: "a"}, result{Stderr: "b"}, `stderr "b" lacks "a"`},
		{"never", want{never: "x"}, result{Stdout: "x"}, `stdout has "x": the sandbox does not hold`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := message(tt.want.check(tt.got)); got != tt.err {
				t.Errorf("check = %q, want %q", got, tt.err)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRefusedErrorIsFoundInAWrappedOne(t *testing.T) {
	err := fmt.Errorf("demo: %w", &refusedError{3, "no"})
	if !errors.As(err, new(*refusedError)) {
		t.Errorf("errors.As(%v) = false, want true", err)
	}
}

func TestQuote(t *testing.T) {
	tests := map[string]string{
		"/usr/bin/python3": "/usr/bin/python3",
		"A=/a b/c":         "'A=/a b/c'",
		"it's":             `'it'\''s'`,
		"$HOME":            "'$HOME'",
		"":                 "''",
	}
	for in, want := range tests {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestFirstLines(t *testing.T) {
	lines := []string{"a", "b", "c", "d"}
	if diff := cmp.Diff(lines, firstLines(lines, 4)); diff != "" {
		t.Errorf("firstLines 4 of 4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "... 2 more lines"}, firstLines(lines, 3)); diff != "" {
		t.Errorf("firstLines 3 of 4 (-want +got):\n%s", diff)
	}
	if lines[2] != "c" {
		t.Errorf("firstLines wrote to its argument: %v", lines)
	}
}

func TestWrap(t *testing.T) {
	got := wrap("one two three\nfour", 8)
	if diff := cmp.Diff([]string{"one two", "three", "four"}, got); diff != "" {
		t.Errorf("wrap (-want +got):\n%s", diff)
	}
}
