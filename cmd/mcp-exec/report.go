package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// Exit statuses.
const (
	exitFailed = 1 // the sandbox can't be built
	exitUsage  = 2 // a bad setting
)

// report prints the cause and, where there is one, the remedy.
func report(err error) int {
	fmt.Fprintln(os.Stderr, "mcp-exec: error:", err)
	var refusal *sandbox.Refusal
	if errors.As(err, &refusal) {
		fmt.Fprintln(os.Stderr, "mcp-exec: hint:", refusal.Hint)
	}
	if errors.As(err, &usageError{}) {
		return exitUsage
	}
	return exitFailed
}
