// Package sandbox says what a run is and how a process is confined on Linux.
//
// # Theory of operation
//
// Nothing here runs a program. The package turns a posture (a named set of
// protections) into data: a flat list of system calls, each with its expected
// result, and into the two objects the kernel wants ready-made, a Landlock
// ruleset and a seccomp program. A forked interpreter executes that list and
// stops at the first surprise. So all policy is Go, tested as a table, and the
// part that runs between fork(2) and the program is one short loop. What is
// around the fork servers (namespaces, root directory, mounts) is made once, by
// init: this binary, on its way to become the first of them.
//
// Two kinds of failure travel in two channels: the sandbox failed is a Go
// error, a *StepError that names step, object and cause; the program failed
// (exit status, signal, limit) is a Result.
package sandbox

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Request is one program to run, already validated and within all caps.
type Request struct {
	Code    string        // Python source
	Stdin   string        // what the program reads; empty: end of file at once
	Timeout time.Duration // wall clock; at the end everything is killed, Result.TimedOut
	Streams *Streams      // nil in a call: Stdin is read, Result has the output
}

// Streams are connected to the program's while it runs, without a cap. A nil one
// is as in a call. The program never gets what is behind them: a terminal can be
// typed into, a file written elsewhere.
type Streams struct {
	Stdin          io.Reader // read ahead of the program; a Read that does not return is left alone
	Stdout, Stderr io.Writer // a slow one makes the program wait; of one that has failed the rest is dropped
}

// Limits are those of one run, in the units a program meets.
type Limits struct {
	DefaultTimeout time.Duration // wall clock when the caller names none
	MaxTimeout     time.Duration // ceiling for what a caller may ask
	OutputBytes    int           // stdout and stderr together, as UTF-8; the rest is dropped, Result.Truncated
	StdinBytes     int           // larger: refused before the run
	CodeBytes      int           // larger: refused before the run
	MemoryBytes    int64         // above: MemoryError, or killed with note memory_limit
	Processes      int           // above: EAGAIN from fork(2), or killed with note process_limit
	WorkspaceBytes int64         // working and temp directory together; above: ENOSPC
}

// Result is how a program ended. A failed program is a Result, never an error.
type Result struct {
	Stdout    string // valid UTF-8, within Limits.OutputBytes together with Stderr
	Stderr    string
	ExitCode  int           // 0-255; 128+N when signal N ended it; -1 when TimedOut
	Duration  time.Duration // wall clock of the run, without queueing
	Truncated bool          // output was cut to the cap
	TimedOut  bool          // the wall-clock limit ended the run
	Note      string        // "code: sentence", or empty; codes in docs/notes.md
}

// Module is an installed top-level package as the tool's description names it.
type Module struct {
	Name    string // distribution name, "Pillow"
	Version string // as importlib.metadata reports it
}

// Environment is what a program finds: interpreter, packages, limits in force.
type Environment struct {
	Python  string   // "3.13.5"
	Modules []Module // of the declared six those that really import
	Posture string   // "landlock"
	Limits  Limits
}

// ErrBusy is returned when the queue is full; a later call may succeed.
var ErrBusy = errors.New("busy: too many calls are waiting; try again in a few seconds")

// SettingError is a setting that can't be honoured here: the user's to change.
type SettingError struct {
	Variable string // "MCP_EXEC_CONCURRENCY"
	Value    string
	Want     string // what is allowed, or what to do
}

func (e *SettingError) Error() string { return fmt.Sprintf("%s=%q: %s", e.Variable, e.Value, e.Want) }

// StepError is a failure of the sandbox itself.
type StepError struct {
	Step string // system call or stage, "landlock_restrict_self"
	Path string // the object, possibly a host path: for the log, never for a caller
	Err  error
}

func (e *StepError) Error() string {
	if e.Path == "" {
		return e.Step + ": " + e.Err.Error()
	}
	return e.Step + " " + e.Path + ": " + e.Err.Error()
}

func (e *StepError) Unwrap() error { return e.Err }

// Public is the message for a caller: the step and the innermost cause, unless
// that names a file.
func (e *StepError) Public() string {
	text := e.Err
	for inner := errors.Unwrap(text); inner != nil; inner = errors.Unwrap(text) {
		text = inner
	}
	if strings.Contains(text.Error(), "/") {
		return "sandbox fault at step " + e.Step
	}
	return "sandbox fault at step " + e.Step + ": " + text.Error()
}
