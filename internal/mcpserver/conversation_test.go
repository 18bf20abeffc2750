package mcpserver

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// calculator is a program that is always the same.
func calculator() *fakeRunner {
	return newFake(func(_ context.Context, req sandbox.Request) (sandbox.Result, error) {
		if strings.Contains(req.Code, "sleep") {
			return sandbox.Result{ExitCode: -1, TimedOut: true, Duration: req.Timeout}, nil
		}
		return sandbox.Result{Stdout: "42\n", Duration: 7 * time.Millisecond}, nil
	})
}

func TestConversations(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	tests := []struct {
		name  string
		lines []string
	}{
		{"conversation-2025-11-25.txt", []string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			toolCall("2", `{"code":"print(6*7)"}`),
			toolCall("3", `{"code":"import time; time.sleep(9)","timeout_s":"1"}`),
			toolCall("4", `{"code":"print(1)","timeout_s":"soon"}`),
			`{"jsonrpc":"2.0","id":5,"method":"prompts/list"}`,
			`{oops`,
			`{"jsonrpc":"2.0","id":6,"method":"ping"}`,
		}},
		{"conversation-2026-07-28.txt", []string{
			`{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"exec","arguments":{"code":"print(6*7)"},` + meta + `}}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"exec","arguments":{},` + meta + `}}`,
			`{"jsonrpc":"2.0","id":4,"method":"ping","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":5,"method":"resources/list","params":{` + meta + `}}`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := dial(t, New(Config{Version: "test"}, calculator()))
			var log strings.Builder
			for _, line := range tt.lines {
				w.send(line)
				log.WriteString("client: " + line + "\n")
				if !strings.Contains(line, `"method":"notifications/`) {
					log.WriteString("server: " + w.read() + "\n")
				}
			}
			w.alive()
			golden(t, tt.name, log.String())
		})
	}
}

// pair connects the SDK's own client to a server over pipes.
func pair(t *testing.T, r Runner, opts *mcp.ClientSessionOptions) *mcp.ClientSession {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- New(Config{Version: "test"}, r).ServeStdio(context.Background(), inR, outW)
		outW.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-done; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
	})
	return session
}

func TestSDKClient(t *testing.T) {
	for _, version := range []string{"", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run("revision "+version, func(t *testing.T) {
			r := calculator()
			session := pair(t, r, &mcp.ClientSessionOptions{ProtocolVersion: version})
			want := version
			if want == "" {
				want = "2026-07-28"
			}
			if got := session.InitializeResult().ProtocolVersion; got != want {
				t.Errorf("revision %s, want %s", got, want)
			}
			if n := r.prepared.Load(); n != 0 {
				t.Errorf("prepared %d times before tools/list", n)
			}
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "exec" {
				t.Fatalf("tools/list: %+v, %v", list, err)
			}
			if n := r.prepared.Load(); n != 1 {
				t.Errorf("prepared %d times after tools/list, want 1", n)
			}
			checkCall(t, session)
		})
	}
}

func checkCall(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "exec", Arguments: map[string]any{"code": "print(6*7)"}})
	if err != nil || res.IsError {
		t.Fatalf("tools/call: %+v, %v", res, err)
	}
	if got := res.StructuredContent.(map[string]any)["stdout"]; got != "42\n" {
		t.Errorf("stdout %q, want 42", got)
	}
	res, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "exec"})
	if err != nil || !res.IsError {
		t.Errorf("tools/call without arguments: %+v, %v, want a tool error", res, err)
	}
}

func TestSDKClientCancels(t *testing.T) {
	started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	session := pair(t, sleeper(started, ended), nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "exec", Arguments: map[string]any{"code": "x"}}); err == nil {
		t.Error("a cancelled call has a result")
	}
	await(t, "the end of the run", ended)
}

// The description shows what is installed when the client asks.
func TestDescriptionIsFresh(t *testing.T) {
	r := calculator()
	session := pair(t, r, nil)
	r.env.Python = "3.14.0"
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || !strings.Contains(list.Tools[0].Description, "Python 3.14.0") {
		t.Errorf("tools/list: %+v, %v", list, err)
	}
}
