package mcpserver

import (
	"context"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// Runner runs one program. The only interface of the project, declared where it
// is used.
type Runner interface {
	// Run returns how the program ended, or an error: sandbox.ErrBusy, a
	// *sandbox.StepError, or ctx's own when the caller gave up.
	Run(ctx context.Context, req sandbox.Request) (sandbox.Result, error)
	// Environment is what a program finds, for the tool's description.
	Environment() sandbox.Environment
	// Prepare starts in the background what a first call would wait for.
	Prepare()
}
