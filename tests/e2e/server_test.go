//go:build linux

// Package e2e drives the built server as a client would: over stdio, through
// the official SDK, natively or in the container.
package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

// commandEnv is a command line that starts the server, split on white space; it
// takes the place of the binary that the tests build. CI names docker run here.
const commandEnv = "MCP_EXEC_TEST_COMMAND"

// hang is how long anything may take; only a hang is longer.
const hang = 120 * time.Second

var binary string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mcp-exec-e2e")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "mcp-exec")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../../cmd/mcp-exec")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	widen()
	return m.Run()
}

// widen lets more tests run beside each other than there are processors, unless told
// otherwise: most of these wait for a clock.
func widen() {
	flag.Parse()
	width := 2 * runtime.GOMAXPROCS(0)
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "test.parallel" {
			width = 0
		}
	})
	if width > 0 {
		_ = flag.Set("test.parallel", strconv.Itoa(width)) // a number it takes
	}
}

// inContainer reports whether the server under test runs in one.
func inContainer() bool { return os.Getenv(commandEnv) != "" }

// sandboxFound saves the second look: the one for the libraries is slow.
var sandboxFound atomic.Bool

// needs of the machine, by posture, natively.
var needs = map[string][]string{
	"namespaces": {"namespaces"},
	"landlock":   {"root", "landlock>=1"},
}

// requireSandbox skips where the product refuses by design.
func requireSandbox(t testing.TB) {
	t.Helper()
	if inContainer() || sandboxFound.Load() {
		return
	}
	sandboxtest.Require(t, append(needs[wanted()], "python")...)
	sandboxFound.Store(true)
}

// command starts the server under test. env are settings, "MCP_EXEC_MAX_PIDS=9".
func command(env ...string) *exec.Cmd {
	line := strings.Fields(os.Getenv(commandEnv))
	if len(line) == 0 {
		cmd := exec.Command(binary)
		cmd.Env = append(os.Environ(), env...)
		return cmd
	}
	// "docker run … IMAGE": settings go before the image.
	image := line[len(line)-1]
	args := line[1 : len(line)-1]
	if isolation := os.Getenv(isolationEnv); isolation != "" {
		args = append(args, "-e", isolationEnv+"="+isolation)
	}
	for _, pair := range env {
		args = append(args, "-e", pair)
	}
	return exec.Command(line[0], append(args, image)...)
}

// server is a running server with one client.
type server struct {
	t       testing.TB
	cmd     *exec.Cmd
	session *mcp.ClientSession
	log     *logBuffer
}

// in is the same server with failures reported on a subtest.
func (s *server) in(t testing.TB) *server {
	c := *s
	c.t = t
	return &c
}

// logBuffer holds what a server writes to stderr; tests read it meanwhile.
type logBuffer struct {
	mu   sync.Mutex // protects text
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start runs a server until the test ends.
func start(t testing.TB, env ...string) *server {
	t.Helper()
	return startCommand(t, command(env...))
}

func startCommand(t testing.TB, cmd *exec.Cmd) *server {
	t.Helper()
	requireSandbox(t)
	log := &logBuffer{}
	cmd.Stderr = log
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		t.Fatalf("start: %v\n%s", err, log)
	}
	s := &server{t: t, cmd: cmd, session: session, log: log}
	t.Cleanup(func() {
		session.Close()
		if t.Failed() {
			t.Logf("server log:\n%s", log)
		}
	})
	return s
}

// args are the tool's input.
type args map[string]any

// result is the tool's structured output.
type result struct {
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	ExitCode   int    `json:"exit_code"`
	DurationMS int    `json:"duration_ms"`
	Truncated  bool   `json:"truncated"`
	TimedOut   bool   `json:"timed_out"`
	Note       string `json:"note"`
}

// run calls exec; anything but a normal result ends the test.
func (s *server) run(code string) result {
	s.t.Helper()
	return s.call(args{"code": code})
}

// call is run with all arguments.
func (s *server) call(a args) result {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	res, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: "exec", Arguments: a})
	if err != nil {
		s.t.Fatalf("exec: %v\n%s", err, s.log)
	}
	if res.IsError {
		s.t.Fatalf("exec: tool error: %s\n%s", text(res), s.log)
	}
	return decode(s.t, res)
}

// raw calls exec and returns the whole answer, tool errors included.
func (s *server) raw(ctx context.Context, a args) (*mcp.CallToolResult, error) {
	return s.session.CallTool(ctx, &mcp.CallToolParams{Name: "exec", Arguments: a})
}

// text is the first content block.
func text(res *mcp.CallToolResult) string {
	if len(res.Content) == 0 {
		return ""
	}
	block, _ := res.Content[0].(*mcp.TextContent)
	if block == nil {
		return ""
	}
	return block.Text
}

func decode(t testing.TB, res *mcp.CallToolResult) result {
	t.Helper()
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("structured content %s: %v", data, err)
	}
	return r
}
