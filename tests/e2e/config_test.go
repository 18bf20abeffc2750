//go:build linux

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBadConfiguration: a bad value stops the start with status 2 and one line
// that names the variable, the value and what is allowed.
func TestBadConfiguration(t *testing.T) {
	const number = "want a whole number from "
	for _, tt := range []struct {
		variable string
		values   []string
		allowed  string
	}{
		{"MCP_EXEC_TRANSPORT", []string{"tcp", "STDIO", " stdio"}, "want stdio, http or sse"},
		{"MCP_EXEC_DEFAULT_TIMEOUT_S", []string{"soon", "0", "-1", "1.5", "30s", "86401", "99999999999999999999"}, number + "1 to 86400"},
		{"MCP_EXEC_MAX_TIMEOUT_S", []string{"x", "0", "-5", "1e3"}, number + "1 to 86400"},
		{"MCP_EXEC_MAX_OUTPUT_BYTES", []string{"1MiB", "0", "-1"}, number + "1 to "},
		{"MCP_EXEC_MAX_STDIN_BYTES", []string{"many", "-1"}, number + "0 to "},
		{"MCP_EXEC_MAX_CODE_BYTES", []string{"0x10", "0"}, number + "1 to "},
		{"MCP_EXEC_CONCURRENCY", []string{"two", "0", "1000"}, number + "1 to "},
		{"MCP_EXEC_MAX_QUEUE", []string{"-1", "x"}, number + "0 to "},
		{"MCP_EXEC_MEMORY_BYTES", []string{"256m", "1024", "0"}, number + "33554432 to "},
		{"MCP_EXEC_MAX_PIDS", []string{"0", "lots"}, number + "1 to "},
		{"MCP_EXEC_WORKSPACE_BYTES", []string{"0", "64M"}, number + "1048576 to "},
		{"MCP_EXEC_ISOLATION", []string{"none", "Landlock"}, "want auto, namespaces, landlock or container"},
		{"MCP_EXEC_PYTHON", []string{" "}, "want a command or a path"},
	} {
		for _, value := range tt.values {
			t.Run(tt.variable+"="+value, func(t *testing.T) {
				refused(t, []string{tt.variable + "=" + value}, tt.variable, value, tt.allowed)
			})
		}
	}
	t.Run("default above the ceiling", func(t *testing.T) {
		refused(t, []string{"MCP_EXEC_DEFAULT_TIMEOUT_S=50", "MCP_EXEC_MAX_TIMEOUT_S=40"}, "MCP_EXEC_DEFAULT_TIMEOUT_S", "50", "MCP_EXEC_MAX_TIMEOUT_S", "40")
	})
	t.Run("ceiling below the unchanged default", func(t *testing.T) {
		refused(t, []string{"MCP_EXEC_MAX_TIMEOUT_S=20"}, `error: MCP_EXEC_MAX_TIMEOUT_S="20": `, "MCP_EXEC_DEFAULT_TIMEOUT_S, which is 30: lower that too")
	})
}

func refused(t *testing.T, env []string, parts ...string) {
	t.Helper()
	status, stdout, stderr := startOnce(t, env)
	if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, stdout %q, stderr %q; want 2, nothing, one line", status, stdout, stderr)
	}
	for _, part := range parts {
		if !strings.Contains(stderr, part) {
			t.Errorf("stderr %q does not say %q", stderr, part)
		}
	}
}

// startOnce starts the built server, in a container test too: what it makes of
// its settings does not depend on where it runs.
func startOnce(t *testing.T, env []string, flags ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, flags...)
	cmd.Env = append(os.Environ(), env...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	_ = cmd.Run() // the status tells
	return cmd.ProcessState.ExitCode(), out.String(), log.String()
}

// TestFlags: each variable has a flag of the same name, which goes before it;
// the token has none. Empty means not set.
func TestFlags(t *testing.T) {
	if status, _, stderr := startOnce(t, []string{"MCP_EXEC_MAX_TIMEOUT_S=100"}, "--max-timeout-s=x"); status != 2 || !strings.Contains(stderr, `"x"`) {
		t.Errorf("--max-timeout-s=x: status %d, %q", status, stderr)
	}
	if status, _, stderr := startOnce(t, nil, "--auth-token=x"); status != 2 || !strings.Contains(stderr, "auth-token") {
		t.Errorf("--auth-token: status %d, %q", status, stderr)
	}
	if status, _, stderr := startOnce(t, []string{"MCP_EXEC_MAX_TIMEOUT_S=", "MCP_EXEC_TRANSPORT=tcp"}); status != 2 || !strings.Contains(stderr, "MCP_EXEC_TRANSPORT") {
		t.Errorf("with an empty variable: status %d, %q", status, stderr)
	}
	status, help, _ := startOnce(t, nil, "serve", "--help")
	for _, name := range []string{"transport", "default-timeout-s", "max-timeout-s", "max-output-bytes", "max-stdin-bytes",
		"max-code-bytes", "python", "isolation", "concurrency", "max-queue", "memory-bytes", "max-pids", "workspace-bytes"} {
		variable := "MCP_EXEC_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if status != 0 || !strings.Contains(help, "--"+name) || !strings.Contains(help, "$"+variable) {
			t.Errorf("--help (status %d) does not name --%s and %s:\n%s", status, name, variable, help)
		}
	}
}

// TestFlagWorks starts a server by flags alone.
func TestFlagWorks(t *testing.T) {
	requireSandbox(t)
	if inContainer() {
		t.Skip("the published lines set variables")
	}
	cmd := exec.CommandContext(t.Context(), binary, "--default-timeout-s", "9", "--max-timeout-s=10")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "9 s wall clock (timeout_s: up to 10)") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestLogHasNoCallerData: code, stdin, output and the names in them.
func TestLogHasNoCallerData(t *testing.T) {
	t.Parallel()
	w := initialized(t)
	const secret = "caller-secret-5e1f"
	for _, code := range []string{
		"# " + secret + "\nprint(input())", "raise ValueError('" + secret + "')", "import secret_5e1f_module",
		"import sys; sys.exit('" + secret + "')", "print('" + secret + "' * 100_000)", "print(", "import os; os.abort()",
	} {
		w.exec(args{"code": code, "stdin": secret, "unknown": secret})
		w.receive()
	}
	w.exec(args{"code": 5, "stdin": []string{secret}, "timeout_s": secret})
	w.receive()
	w.send(secret)
	w.receive()
	w.request("tools/call", `{"name":"`+secret+`"}`)
	w.receive()
	if status, _ := w.finish(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	log := w.log.String()
	if strings.Contains(log, "5e1f") {
		t.Errorf("the log has caller data:\n%s", log)
	}
	if n := strings.Count(log, "msg=run "); n != 7 {
		t.Errorf("%d lines for 7 runs:\n%s", n, log)
	}
}
