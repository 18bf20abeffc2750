package pool

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// cause is what ended a run from outside, as the kernel or the watchdog says.
type cause int

const (
	causeNone cause = iota
	causeTimeout
	causeMemory
	causeProcesses
	causeCPU
	causeCancel
)

// ending is all that is known when a run is over.
type ending struct {
	cause  cause
	status int // 0-255, or 128+signal
	signal int // that ended the program, or 0
	reason forkserver.Reason
	cut    bool
	kept   int64 // bytes of output returned
	total  int64 // bytes of output written
}

// note is the one sentence for a model to act on. What ended the run comes
// before what the exception object says, that before what became of the output.
// The table is docs/notes.md.
func (e ending) note(env sandbox.Environment) string {
	switch {
	case e.cause == causeMemory:
		return fmt.Sprintf("memory_limit: killed at %s", mebibytes(env.Limits.MemoryBytes))
	case e.cause == causeProcesses:
		return fmt.Sprintf("process_limit: killed at %d processes", env.Limits.Processes)
	case e.cause == causeCPU:
		return "cpu_limit: killed after more processor time than its timeout"
	case e.cause == causeTimeout:
		return e.outputNote()
	case e.signal > 0:
		return fmt.Sprintf("killed_signal: ended by signal %d (%s)", e.signal, signalName(e.signal))
	}
	if text := e.reasonNote(env); text != "" {
		return text
	}
	return e.outputNote()
}

func (e ending) reasonNote(env sandbox.Environment) string {
	switch e.reason {
	case forkserver.NoModule:
		return "missing_module: a module is not installed; besides the standard library there is " + names(env.Modules)
	case forkserver.NoMemory:
		return fmt.Sprintf("memory_limit: an allocation failed; the limit is %s", mebibytes(env.Limits.MemoryBytes))
	case forkserver.NoNetwork:
		return "no_network: programs have no network; pass data in code or stdin"
	case forkserver.DiskFull:
		return fmt.Sprintf("disk_full: files may take %s in all", mebibytes(env.Limits.WorkspaceBytes))
	case forkserver.NoProcess:
		return fmt.Sprintf("process_limit: no more than %d processes and threads", env.Limits.Processes)
	}
	return ""
}

func (e ending) outputNote() string {
	if e.cut {
		return fmt.Sprintf("output_cut: kept %s of %s bytes", thousands(e.kept), thousands(e.total))
	}
	if e.cause == causeNone && e.status == 0 && e.total == 0 {
		return "no_output: nothing was printed; use print() to see a value"
	}
	return ""
}

func names(modules []sandbox.Module) string {
	if len(modules) == 0 {
		return "nothing"
	}
	all := make([]string, len(modules))
	for i, m := range modules {
		all[i] = m.Name
	}
	return strings.Join(all, ", ")
}

func mebibytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MiB" }

func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func signalName(n int) string {
	if name := unix.SignalName(syscall.Signal(n)); name != "" {
		return name
	}
	return "real-time signal"
}
