package main

import (
	"log/slog"
	"os"
	"slices"
	"strings"
)

const (
	prefix     = "MCP_EXEC_"
	testPrefix = prefix + "TEST_"
)

// variables are all that exist. The second half are settings of transports that
// come later: who has them set already has made no mistake.
var variables = []string{
	"MCP_EXEC_CONCURRENCY", "MCP_EXEC_DEFAULT_TIMEOUT_S", "MCP_EXEC_ISOLATION", "MCP_EXEC_MAX_CODE_BYTES",
	"MCP_EXEC_MAX_OUTPUT_BYTES", "MCP_EXEC_MAX_PIDS", "MCP_EXEC_MAX_QUEUE", "MCP_EXEC_MAX_STDIN_BYTES",
	"MCP_EXEC_MAX_TIMEOUT_S", "MCP_EXEC_MEMORY_BYTES", "MCP_EXEC_PYTHON", "MCP_EXEC_TRANSPORT", "MCP_EXEC_WORKSPACE_BYTES",

	"MCP_EXEC_ADDR", "MCP_EXEC_ALLOWED_HOSTS", "MCP_EXEC_ALLOWED_ORIGINS", "MCP_EXEC_AUTH_TOKEN", "MCP_EXEC_AUTH_TOKEN_FILE",
}

// dropEmpty treats a variable that is set to nothing as not set, as container
// tools pass it on.
func dropEmpty() {
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); value == "" && strings.HasPrefix(name, prefix) {
			_ = os.Unsetenv(name)
		}
	}
}

// warnUnknown logs the names, never the values, of variables that look like settings
// and are none: a limit that somebody believes to have set.
func warnUnknown(log *slog.Logger, environ []string) {
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, testPrefix) && !slices.Contains(variables, name) {
			log.Warn("unknown setting ignored", "variable", name, "nearest", nearest(name))
		}
	}
}

// nearest is the variable that has the longest piece in common with name; among
// equals the one of the most similar length.
func nearest(name string) string {
	name = strings.TrimPrefix(name, prefix)
	likeness := func(variable string) int {
		variable = strings.TrimPrefix(variable, prefix)
		apart := max(len(variable)-len(name), len(name)-len(variable))
		return 1000*common(variable, name) - apart
	}
	return slices.MaxFunc(variables, func(a, b string) int { return likeness(a) - likeness(b) })
}

// common is the length of the longest piece of a in b.
func common(a, b string) int {
	longest := 0
	for start := range a {
		for end := start + longest + 1; end <= len(a) && strings.Contains(b, a[start:end]); end++ {
			longest = end - start
		}
	}
	return longest
}
