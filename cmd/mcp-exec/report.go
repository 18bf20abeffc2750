package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// Exit statuses. Those of run are the program's own.
const (
	exitFailed = 1   // the sandbox can't be built
	exitUsage  = 2   // a bad setting
	exitTimeUp = 124 // the wall-clock limit ended the program, as timeout(1) says it
	exitSignal = 128 // and the number of the signal that ended the program, or us
)

// exitStatus is an ending that needs no words.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// report prints the cause and, where there is one, the remedy.
func report(err error) int {
	var status exitStatus
	if err == nil || errors.As(err, &status) {
		return int(status)
	}
	fmt.Fprintln(os.Stderr, "mcp-exec: error:", err)
	var refusal *sandbox.Refusal
	if errors.As(err, &refusal) && refusal.Hint != "" {
		fmt.Fprintln(os.Stderr, "mcp-exec: hint:", refusal.Hint)
	}
	var setting *sandbox.SettingError
	if errors.As(err, &usageError{}) || errors.As(err, &setting) {
		return exitUsage
	}
	return exitFailed
}
