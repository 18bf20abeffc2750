// Command mcp-exec is an MCP server with one tool, exec, that runs Python in a
// locked-down sandbox.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// version is set by the linker for a release.
var version = ""

type command struct {
	Serve   serve   `cmd:"" default:"withargs" help:"Serve MCP clients (the default)."`
	Version showVer `cmd:"" help:"Print the version."`
}

type showVer struct{}

func (showVer) Run() error {
	fmt.Println("mcp-exec", buildVersion())
	return nil
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// usageError is a bad setting: one line, exit status 2.
type usageError struct{ error }

func main() {
	if os.Args[0] == sandbox.InitName {
		becomeInit()
	}
	dropEmpty()
	var c command
	parser := kong.Must(&c, kong.Name("mcp-exec"), kong.DefaultEnvars("MCP_EXEC"),
		kong.Description("An MCP server that runs Python in a locked-down sandbox. Every flag of serve is also an environment variable."))
	parsed, err := parser.Parse(os.Args[1:])
	if err == nil {
		err = parsed.Run()
	} else {
		err = usageError{err}
	}
	if err != nil {
		os.Exit(report(err))
	}
}

// dropEmpty treats a variable that is set to nothing as not set, as container
// tools pass it on.
func dropEmpty() {
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); value == "" && strings.HasPrefix(name, "MCP_EXEC_") {
			_ = os.Unsetenv(name)
		}
	}
}
