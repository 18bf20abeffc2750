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
	PrintVersion kong.VersionFlag `name:"version" env:"-" help:"Print the version."`

	Serve       serve       `cmd:"" default:"withargs" help:"Serve MCP clients (the default)."`
	Run         run         `cmd:"" help:"Run a program in the same sandbox, from the shell."`
	Doctor      doctor      `cmd:"" help:"Say what this host gives, and prove what is promised. Exit status 0: serve would start."`
	Healthcheck healthcheck `cmd:"" help:"Ask whether the server of this container is well: by exit status."`
	Version     showVer     `cmd:"" help:"Print the version."`
}

type showVer struct{}

func (showVer) Run() error {
	fmt.Println(versionLine())
	return nil
}

func versionLine() string { return "mcp-exec " + buildVersion() }

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
	os.Exit(report(execute(newParser(&command{}), os.Args[1:])))
}

func newParser(c *command, more ...kong.Option) *kong.Kong {
	return kong.Must(c, append(more, kong.Name("mcp-exec"), kong.DefaultEnvars("MCP_EXEC"), kong.Vars{"version": versionLine()},
		kong.Description("An MCP server that runs Python in a locked-down sandbox. Every flag of serve is also an environment variable."))...)
}

func execute(parser *kong.Kong, args []string) error {
	if err := knownCommand(parser, args); err != nil {
		return usageError{err}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return usageError{err}
	}
	return parsed.Run()
}

// knownCommand refuses a first word that is no command: the parser would take it
// for an argument of the default one.
func knownCommand(parser *kong.Kong, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	var names []string
	for _, node := range parser.Model.Children {
		if node.Name == args[0] {
			return nil
		}
		names = append(names, node.Name)
	}
	return fmt.Errorf("no command %q: want %s", args[0], list(names, "or"))
}
