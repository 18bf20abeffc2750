//go:build linux

package e2e

import (
	"strings"
	"testing"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

// TestCommands are those that need no sandbox.
func TestCommands(t *testing.T) {
	for _, tt := range []struct {
		name   string
		env    []string
		args   []string
		status int
		stdout string // its beginning
		stderr string // a part of it
	}{
		{"version", nil, []string{"version"}, 0, "mcp-exec ", ""},
		{"--version", nil, []string{"--version"}, 0, "mcp-exec ", ""},
		{"healthcheck", nil, []string{"healthcheck"}, 0, "", ""},
		{"healthcheck of a server that can't be", []string{"MCP_EXEC_TRANSPORT=tcp"}, []string{"healthcheck"}, 2, "", "MCP_EXEC_TRANSPORT"},
		{"unknown", nil, []string{"bogus"}, 2, "", `no command "bogus": want serve, run, `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, stdout, stderr := startOnce(t, tt.env, tt.args...)
			if status != tt.status || !strings.HasPrefix(stdout, tt.stdout) || tt.stdout == "" && stdout != "" {
				t.Errorf("status %d, stdout %q; want %d, %q", status, stdout, tt.status, tt.stdout)
			}
			if !strings.Contains(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
				t.Errorf("stderr %q, want %q in it", stderr, tt.stderr)
			}
		})
	}
}

// TestUnknownSetting: a misspelt one is named in the log, its value is not; one of a
// later version is no mistake.
func TestUnknownSetting(t *testing.T) {
	t.Parallel()
	s := start(t, "MCP_EXEC_TIMEOUT=77177", "MCP_EXEC_ADDR=:8080", "MCP_EXEC_AUTH_TOKEN=77177", "MCP_EXEC_TEST_SOMETHING=1")
	if got := s.run("print(1)"); got.Stdout != "1\n" {
		t.Errorf("run = %+v", got)
	}
	log := s.log.String()
	const want = `level=WARN msg="unknown setting ignored" variable=MCP_EXEC_TIMEOUT nearest=MCP_EXEC_MAX_TIMEOUT_S`
	if !strings.Contains(log, want) || strings.Count(log, "unknown setting") != 1 || strings.Contains(log, "77177") {
		t.Errorf("the log does not say %q once, and without the value:\n%s", want, log)
	}
	got := finished(t, runCommand(t, []string{"MCP_EXEC_TIMEOUT=5"}, "-"), "print(1)")
	if got.status != 0 || got.stdout != "1\n" || !strings.Contains(got.stderr, want) || strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("run = %+v", got)
	}
}

// TestConcurrencyRefused: a setting that the posture can't honour is a bad setting.
func TestConcurrencyRefused(t *testing.T) {
	if inContainer() {
		t.Skip("the status of docker run would be tested")
	}
	sandboxtest.Require(t, append(needs["landlock"], "python")...)
	settings := []string{"MCP_EXEC_CONCURRENCY=2", "MCP_EXEC_ISOLATION=landlock"}
	status, stdout, stderr := startOnce(t, settings)
	if status != 2 || stdout != "" || !strings.Contains(stderr, `error: MCP_EXEC_CONCURRENCY="2": `) {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if got := finished(t, runCommand(t, settings, "-"), "print(1)"); got != (shell{0, "1\n", ""}) {
		t.Errorf("run, which has one program only = %+v", got)
	}
}
