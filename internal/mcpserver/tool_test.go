package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// callExec calls the handler as the SDK does, with a log to look at.
func callExec(t *testing.T, ctx context.Context, r Runner, args string) (*mcp.CallToolResult, string) {
	t.Helper()
	var log bytes.Buffer
	s := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, r)
	res, err := s.exec(ctx, &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Arguments: json.RawMessage(args)}})
	if err != nil {
		t.Fatal(err)
	}
	return res, log.String()
}

func text(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	if len(res.Content) != 1 {
		t.Fatalf("%d content blocks, want 1", len(res.Content))
	}
	return res.Content[0].(*mcp.TextContent).Text
}

func TestResult(t *testing.T) {
	tests := []struct {
		name string
		out  sandbox.Result
		want string
	}{
		{"plain", sandbox.Result{Stdout: "42\n", Duration: 12*time.Millisecond + 600*time.Microsecond},
			`{"stdout":"42\n","stderr":"","exit_code":0,"duration_ms":13,"truncated":false,"timed_out":false}`},
		{"failed", sandbox.Result{Stderr: "Traceback", ExitCode: 1},
			`{"stdout":"","stderr":"Traceback","exit_code":1,"duration_ms":0,"truncated":false,"timed_out":false}`},
		{"everything", sandbox.Result{Stdout: "a", Stderr: "b", ExitCode: -1, Duration: time.Second, Truncated: true, TimedOut: true, Note: "output_cut: kept 1 of 2 bytes"},
			`{"stdout":"a","stderr":"b","exit_code":-1,"duration_ms":1000,"truncated":true,"timed_out":true,"note":"output_cut: kept 1 of 2 bytes"}`},
		{"not escaped", sandbox.Result{Stdout: "<a href=\"x\">&amp;</a>"},
			`{"stdout":"<a href=\"x\">&amp;</a>","stderr":"","exit_code":0,"duration_ms":0,"truncated":false,"timed_out":false}`},
		{"control characters", sandbox.Result{Stdout: "\x00\x1b[0m\u2028\xff"},
			`{"stdout":"\u0000\u001b[0m\u2028\ufffd","stderr":"","exit_code":0,"duration_ms":0,"truncated":false,"timed_out":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newFake(func(context.Context, sandbox.Request) (sandbox.Result, error) { return tt.out, nil })
			res, _ := callExec(t, t.Context(), r, `{"code":"x"}`)
			if got := text(t, res); got != tt.want || res.IsError {
				t.Errorf("text = %s (error %v), want %s", got, res.IsError, tt.want)
			}
			if got := string(res.StructuredContent.(json.RawMessage)); got != tt.want {
				t.Errorf("structuredContent = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRequestReachesRunner(t *testing.T) {
	var got sandbox.Request
	r := newFake(func(_ context.Context, req sandbox.Request) (sandbox.Result, error) {
		got = req
		return sandbox.Result{}, nil
	})
	callExec(t, t.Context(), r, `{"code":"print(1)","timeout_s":"2.5","stdin":"in"}`)
	want := sandbox.Request{Code: "print(1)", Stdin: "in", Timeout: 3 * time.Second}
	if got != want {
		t.Errorf("Run got %+v, want %+v", got, want)
	}
}

func TestToolErrors(t *testing.T) {
	errno := errors.New("operation not permitted")
	step := &sandbox.StepError{Step: "pivot_root", Path: "/secret/path", Err: fmt.Errorf("mount: %w", errno)}
	tests := []struct {
		name    string
		args    string
		err     error
		want    string
		wantLog string
	}{
		{"invalid", `{"code":7}`, nil, "code: expected a string, got 7", ""},
		{"busy", `{"code":"x"}`, fmt.Errorf("admit: %w", sandbox.ErrBusy), sandbox.ErrBusy.Error(), "busy"},
		{"step", `{"code":"x"}`, fmt.Errorf("worker 3: %w", step),
			"sandbox fault at step pivot_root: operation not permitted", "pivot_root /secret/path: mount: operation not permitted"},
		{"other", `{"code":"x"}`, errors.New("open /secret/path: gone"), "internal error", "open /secret/path: gone"},
		{"a deadline that is not the caller's", `{"code":"x"}`, context.DeadlineExceeded, "internal error", "deadline exceeded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newFake(func(context.Context, sandbox.Request) (sandbox.Result, error) { return sandbox.Result{}, tt.err })
			res, log := callExec(t, t.Context(), r, tt.args)
			if got := text(t, res); got != tt.want || !res.IsError || res.StructuredContent != nil {
				t.Errorf("result %q, error %v, structured %v, want error %q", got, res.IsError, res.StructuredContent, tt.want)
			}
			if !strings.Contains(log, tt.wantLog) {
				t.Errorf("log %q has no %q", log, tt.wantLog)
			}
		})
	}
}

func TestInvalidArgumentsDoNotRun(t *testing.T) {
	r := echo()
	callExec(t, t.Context(), r, `{"code":"x","timeout_s":"soon"}`)
	if n := r.runs.Load(); n != 0 {
		t.Errorf("%d runs, want 0", n)
	}
}

func TestCancelledCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newFake(func(ctx context.Context, _ sandbox.Request) (sandbox.Result, error) {
		return sandbox.Result{}, ctx.Err()
	})
	res, log := callExec(t, ctx, r, `{"code":"x"}`)
	if got := text(t, res); got != "cancelled: the caller gave up" || strings.Contains(log, "ERROR") {
		t.Errorf("result %q, log %q", got, log)
	}
}

func TestPanicIsToolError(t *testing.T) {
	for name, boom := range map[string]func(){
		"text":    func() { panic("secret text") },
		"runtime": func() { var none []int; none[len(none)]++ },
	} {
		t.Run(name, func(t *testing.T) {
			r := newFake(func(context.Context, sandbox.Request) (sandbox.Result, error) { boom(); return sandbox.Result{}, nil })
			res, log := callExec(t, t.Context(), r, `{"code":"x"}`)
			if got := text(t, res); got != "internal error" || !res.IsError {
				t.Errorf("result %q, error %v", got, res.IsError)
			}
			if !strings.Contains(log, "msg=panic") || !strings.Contains(log, "tool_test.go") || strings.Contains(log, "secret") {
				t.Errorf("log %q", log)
			}
		})
	}
}

// Only metadata of a run is logged, and nothing of what a caller sent.
func TestLogHasNoCallerData(t *testing.T) {
	const secret = "hunter2"
	r := newFake(func(context.Context, sandbox.Request) (sandbox.Result, error) {
		return sandbox.Result{Stdout: secret, Stderr: secret, ExitCode: 3, Note: "missing_module: no module named " + secret}, nil
	})
	for _, args := range []string{
		`{"code":"hunter2","stdin":"hunter2"}`, `{"code":"x","timeout_s":"hunter2"}`, `"hunter2"`,
	} {
		_, log := callExec(t, t.Context(), r, args)
		if strings.Contains(log, secret) {
			t.Errorf("log of %s: %s", args, log)
		}
	}
	_, log := callExec(t, t.Context(), r, `{"code":"x"}`)
	for _, want := range []string{"exit_code=3", "out_bytes=14", "note=missing_module"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in log %s", want, log)
		}
	}
}

// Content that is not text passes through as the SDK writes it.
func TestUnescapedResultKeepsOtherContent(t *testing.T) {
	res := &unescapedResult{&mcp.CallToolResult{
		Meta:    mcp.Meta{"a": "b"},
		Content: []mcp.Content{&mcp.TextContent{Text: "<"}, &mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png"}},
	}}
	data, err := marshal(res)
	want := `{"_meta":{"a":"b"},"content":[{"type":"text","text":"<"},{"type":"image","mimeType":"image/png","data":"AQ=="}]}`
	if err != nil || string(data) != want {
		t.Errorf("marshal = %s, %v, want %s", data, err, want)
	}
}
