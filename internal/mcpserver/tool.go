package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// internalError is all that a caller learns of a fault that is ours; the log
// has the rest.
const internalError = "internal error"

// exec answers one tools/call. A failed program is a result; an error here is
// a tool error, which a model sees and can act on, never a protocol error.
func (s *Server) exec(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, _ error) {
	defer func() {
		if v := recover(); v != nil {
			s.logPanic(v)
			res = toolError(internalError)
		}
	}()
	run, err := parseArguments(req.Params.Arguments, s.runner.Environment().Limits)
	if err != nil {
		return toolError(err.Error()), nil
	}
	out, err := s.runner.Run(ctx, run)
	if err != nil {
		return toolError(s.public(ctx, err)), nil
	}
	s.logRun(out)
	return toolResult(out)
}

// public logs err and says what a caller may know of it.
func (s *Server) public(ctx context.Context, err error) string {
	var step *sandbox.StepError
	switch {
	case errors.Is(err, sandbox.ErrBusy):
		s.log.Warn("run refused", "err", err)
		return sandbox.ErrBusy.Error()
	case errors.As(err, &step):
		s.log.Error("run", "err", err)
		return step.Public()
	case ctx.Err() != nil:
		s.log.Info("run cancelled")
		return "cancelled: the caller gave up"
	}
	s.log.Error("run", "err", err)
	return internalError
}

// logRun writes metadata only: of the note just the code, since its sentence
// may name a module of the caller's.
func (s *Server) logRun(out sandbox.Result) {
	note, _, _ := strings.Cut(out.Note, ":")
	s.log.Info("run", "exit_code", out.ExitCode, "wall_ms", milliseconds(out.Duration),
		"out_bytes", len(out.Stdout)+len(out.Stderr), "truncated", out.Truncated, "timed_out", out.TimedOut, "note", note)
}

// output is the tool's result; the order of the fields is that of the keys.
type output struct {
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	ExitCode   int    `json:"exit_code"`
	DurationMS int64  `json:"duration_ms"`
	Truncated  bool   `json:"truncated"`
	TimedOut   bool   `json:"timed_out"`
	Note       string `json:"note,omitempty"`
}

func milliseconds(d time.Duration) int64 { return d.Round(time.Millisecond).Milliseconds() }

// ResultJSON is the object that a call answers with.
func ResultJSON(out sandbox.Result) ([]byte, error) {
	body, err := marshal(output{
		Stdout: out.Stdout, Stderr: out.Stderr, ExitCode: out.ExitCode, DurationMS: milliseconds(out.Duration),
		Truncated: out.Truncated, TimedOut: out.TimedOut, Note: out.Note,
	})
	if err != nil {
		return nil, fmt.Errorf("marshal result: %w", err)
	}
	return body, nil
}

// toolResult gives the same JSON twice: half of the clients show the model
// only structuredContent, the other half only the text.
func toolResult(out sandbox.Result) (*mcp.CallToolResult, error) {
	body, err := ResultJSON(out)
	if err != nil {
		return nil, err
	}
	res := textResult(string(body))
	res.StructuredContent = json.RawMessage(body)
	return res, nil
}

// toolError has no structuredContent: it would have to match the schema.
func toolError(text string) *mcp.CallToolResult {
	res := textResult(text)
	res.IsError = true
	return res
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// marshal is json.Marshal without HTML escaping: "\u003c" for "<" doubles what
// a model pays for HTML, and some clients show the text as it is.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// unescaped keeps the SDK from HTML-escaping the results of tools/call.
func unescaped(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if call, ok := res.(*mcp.CallToolResult); ok && err == nil {
			return &unescapedResult{call}, nil
		}
		return res, err
	}
}

// unescapedResult is a CallToolResult that marshals without HTML escaping. The
// methods that it inherits let the SDK set what the protocol revision needs.
type unescapedResult struct{ *mcp.CallToolResult }

// MarshalJSON lets the SDK write its own fields, some of which can't be read
// from here, and adds the two that carry the program's output.
func (r *unescapedResult) MarshalJSON() ([]byte, error) {
	frame := *r.CallToolResult
	frame.Content, frame.StructuredContent = []mcp.Content{}, nil
	small, err := json.Marshal(&frame)
	if err != nil {
		return nil, fmt.Errorf("marshal result: %w", err)
	}
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var wire struct {
		Meta       json.RawMessage `json:"_meta,omitempty"`
		ResultType string          `json:"resultType,omitempty"`
		Content    []any           `json:"content"`
		Structured any             `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError,omitempty"`
	}
	if err := json.Unmarshal(small, &wire); err != nil {
		return nil, fmt.Errorf("marshal result: %w", err)
	}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			wire.Content = append(wire.Content, text{"text", t.Text})
		} else {
			wire.Content = append(wire.Content, c)
		}
	}
	wire.Structured = r.StructuredContent
	return marshal(wire)
}
