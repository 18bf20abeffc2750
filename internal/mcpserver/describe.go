package mcpserver

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

const toolName = "exec"

// execTool is the tool as clients list it. Every model that is connected pays
// for each byte of it on each request: the tests hold it under 400 tokens.
func execTool(env sandbox.Environment) *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name:         toolName,
		Title:        "Run Python",
		Description:  description(env),
		InputSchema:  inputSchema(env.Limits),
		OutputSchema: outputSchema,
		// All false. Nothing a run does outlives it, and it reaches nothing
		// outside; but it is a program, so not read-only, not repeatable.
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// description tells a model what it can't find out by trying: what is there,
// what is not, and where the limits are. No "<", ">" or "&": the SDK escapes
// them.
func description(env sandbox.Environment) string {
	lim := env.Limits
	return fmt.Sprintf("Runs a Python %s program in a sandbox and returns what it printed: use print() to see a value. "+
		"Installed: the standard library%s. "+
		"No network, no pip install; nothing is kept between calls. The working directory is private, empty and writable. "+
		"Limits: %s wall clock (timeout_s: up to %s), %s memory, %d processes, %s of files, %s of output (stdout and stderr together, the rest is cut). "+
		"A non-zero exit_code or timed_out is a normal result: read stderr and note.",
		env.Python, modules(env.Modules),
		seconds(lim.DefaultTimeout), number(lim.MaxTimeout), size(lim.MemoryBytes), lim.Processes, size(lim.WorkspaceBytes), size(int64(lim.OutputBytes)))
}

func modules(installed []sandbox.Module) string {
	var b strings.Builder
	for _, m := range installed {
		b.WriteString(", " + m.Name + " " + m.Version)
	}
	return b.String()
}

// inputSchema has scalar types only: some model APIs refuse unions, $ref and
// anyOf. It asks for less than validate.go accepts, on purpose.
func inputSchema(lim sandbox.Limits) json.RawMessage {
	return fmt.Appendf(nil, `{"type":"object","properties":{`+
		`"code":{"type":"string","description":"Python source, run as main.py; at most %s"},`+
		`"timeout_s":{"type":"integer","description":"wall-clock limit in seconds; default %s, at most %s"},`+
		`"stdin":{"type":"string","description":"what the program reads from standard input; default empty, at most %s"}},`+
		`"required":["code"]}`,
		size(int64(lim.CodeBytes)), number(lim.DefaultTimeout), number(lim.MaxTimeout), size(int64(lim.StdinBytes)))
}

// outputSchema is that of type output.
var outputSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"stdout":{"type":"string"},` +
	`"stderr":{"type":"string"},` +
	`"exit_code":{"type":"integer","description":"128+N when signal N ended it, -1 when timed_out"},` +
	`"duration_ms":{"type":"integer"},` +
	`"truncated":{"type":"boolean","description":"output was cut"},` +
	`"timed_out":{"type":"boolean"},` +
	`"note":{"type":"string","description":"code: sentence on what happened"}},` +
	`"required":["stdout","stderr","exit_code","duration_ms","truncated","timed_out"]}`)

func number(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

func seconds(d time.Duration) string { return number(d) + " s" }

// size is exact: a rounded limit would be a wrong one.
func size(n int64) string {
	switch {
	case n > 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n > 0 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
