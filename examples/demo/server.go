package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// secret is in the server's environment; no program may find it there.
const secret = "DEMO_SECRET=if-a-program-prints-this-it-escaped"

// server is the running server and the session with it.
type server struct {
	*mcp.ClientSession
	startup time.Duration // from its start to the end of the handshake
}

// refusedError says that the server ended by itself instead of serving.
type refusedError struct {
	status int
	words  string // what it wrote to stderr
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the server refuses to start (exit status %d):\n%s", e.status, e.words)
}

func start(ctx context.Context, path string) (*server, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path)
	cmd.Env = append(os.Environ(), "MCP_EXEC_TRANSPORT=stdio", secret)
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	began := time.Now()
	client := mcp.NewClient(&mcp.Implementation{Name: "mcp-exec-demo", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, startFault(cmd, &stderr, err)
	}
	return &server{session, time.Since(began)}, nil
}

// startFault tells a server that says no from one that is broken.
func startFault(cmd *exec.Cmd, stderr *bytes.Buffer, err error) error {
	if cmd.Process == nil {
		return fmt.Errorf("start server: %w", err)
	}
	if cmd.ProcessState == nil {
		_ = cmd.Wait() // the session did not come far enough to do it; the status is what counts
	}
	words := strings.TrimSpace(stderr.String())
	if code := cmd.ProcessState.ExitCode(); code > 0 && words != "" {
		return &refusedError{code, words}
	}
	return fmt.Errorf("start server: %w (%s)\n%s", err, cmd.ProcessState, words)
}

// tool is the one that the server offers.
func (s *server) tool(ctx context.Context) (*mcp.Tool, error) {
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("tools/list: %w", err)
	}
	if len(list.Tools) != 1 || list.Tools[0].Name != "exec" {
		return nil, fmt.Errorf("tools/list: %d tools, want exec alone", len(list.Tools))
	}
	return list.Tools[0], nil
}

// warmth is what a newcomer waits for once, before every call is fast.
type warmth struct {
	first     time.Duration // the first call of all
	libraries time.Duration // the first that imports numpy, pandas and matplotlib; 0: they are not there
}

func (s *server) warm(ctx context.Context) (w warmth, err error) {
	if _, w.first, err = s.call(ctx, map[string]any{"code": "print(1)"}); err != nil {
		return w, fmt.Errorf("first call: %w", err)
	}
	code := "import numpy, pandas, matplotlib.pyplot"
	r, took, err := s.call(ctx, map[string]any{"code": code, "timeout_s": 60})
	if err != nil {
		return w, fmt.Errorf("first call with libraries: %w", err)
	}
	if r.ExitCode == 0 {
		w.libraries = took
	}
	return w, nil
}

func (s *server) exec(ctx context.Context, p program) (result, time.Duration, error) {
	return s.call(ctx, p.arguments())
}

// call returns the result and how long the caller waited for it.
func (s *server) call(ctx context.Context, args map[string]any) (r result, took time.Duration, err error) {
	began := time.Now()
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "exec", Arguments: args})
	took = time.Since(began)
	if err != nil {
		return r, took, fmt.Errorf("tools/call: %w", err)
	}
	if res.IsError {
		return r, took, errors.New("tool error: " + text(res))
	}
	b, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return r, took, fmt.Errorf("structured content: %w", err)
	}
	return r, took, nil
}

func text(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}
