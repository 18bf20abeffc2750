// Package mcpserver is MCP in, MCP out: it offers the tool exec, checks what a
// client sent, hands it to a Runner and puts the Result on the wire. It is the
// only package that imports the MCP SDK.
//
// What callers send (code, stdin) and what programs print is never logged.
package mcpserver

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config is what a Server can't learn from its Runner.
type Config struct {
	Version string       // as serverInfo reports it
	Log     *slog.Logger // nil: nothing is logged
}

// Server is the MCP side of mcp-exec, the same on every transport.
type Server struct {
	runner Runner
	log    *slog.Logger
	mcp    *mcp.Server
}

// New makes a server that runs programs with r.
func New(cfg Config, r Runner) *Server {
	s := &Server{runner: r, log: cfg.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	info := &mcp.Implementation{Name: "mcp-exec", Version: cfg.Version}
	s.mcp = mcp.NewServer(info, &mcp.ServerOptions{
		// No Logger: when the SDK meets a bug of its own it prints whole
		// results, and those are caller data.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	s.mcp.AddTool(execTool(r.Environment()), s.exec)
	s.mcp.AddReceivingMiddleware(s.survive, declaredOnly, s.listTools, unescaped)
	return s
}

// survive answers a request whose handling panicked: in the SDK a panic ends
// the process, and with it the runs of everybody else.
func (s *Server) survive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if v := recover(); v != nil {
				s.logPanic(v)
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: internalError}
			}
		}()
		return next(ctx, method, req)
	}
}

// logPanic leaves out the text of a panic that did not come from the Go
// runtime: it may quote the caller's data.
func (s *Server) logPanic(v any) {
	text := fmt.Sprintf("%T", v)
	if err, ok := v.(runtime.Error); ok {
		text = err.Error()
	}
	s.log.Error("panic", "value", text, "stack", string(debug.Stack()))
}

// declared are the requests that the announced capabilities stand for. The SDK
// would answer others too (prompts/list with an empty list, for instance), and
// a client would take that for support.
var declared = map[string]bool{
	"initialize":           true,
	"ping":                 true,
	"server/discover":      true,
	"subscriptions/listen": true,
	"tools/call":           true,
	"tools/list":           true,
}

func declaredOnly(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if !declared[method] && !strings.HasPrefix(method, "notifications/") {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
		}
		return next(ctx, method, req)
	}
}

// listTools describes the tool as things are now, and takes the question as the
// sign that calls are near: most servers are started and never called.
func (s *Server) listTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "tools/list" {
			s.runner.Prepare()
		}
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil && len(list.Tools) > 0 {
			list.Tools = []*mcp.Tool{execTool(s.runner.Environment())}
		}
		return res, err
	}
}
