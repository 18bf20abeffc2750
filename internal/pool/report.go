package pool

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// Report is what doctor says of this host, of the sandbox that it gives and of
// what was proven. The keys of its JSON form are stable.
type Report struct {
	Serves      bool         `json:"serves"` // serve would start with these settings, and all is proven
	Reason      string       `json:"reason"` // why not, or empty
	Fix         string       `json:"fix"`    // what to do about it, or empty
	Version     string       `json:"version"`
	Host        Host         `json:"host"`
	Posture     PostureInfo  `json:"posture"`
	Interpreter Interpreter  `json:"interpreter"`
	Limits      *LimitsInfo  `json:"limits"` // null: not known without a sandbox
	Protections []Protection `json:"protections"`
	Roles       []Role       `json:"roles"`    // what confines each process
	Messages    []string     `json:"messages"` // warnings that serve would log
}

// Host is what the machine or container gives.
type Host struct {
	System       string   `json:"system"` // "Linux"
	Release      string   `json:"release"`
	Architecture string   `json:"architecture"`
	UID          int      `json:"uid"`
	PID          int      `json:"pid"`
	Container    bool     `json:"container"`           // own pid namespace in which every process is ours or PID 1
	ContainerErr string   `json:"container_err"`       // why not
	ProcErr      string   `json:"proc_err"`            // what is missing of /proc, or empty
	UserNSErr    string   `json:"user_namespaces_err"` // the setting that forbids user namespaces, or empty
	LandlockABI  int      `json:"landlock_abi"`        // 0: none
	LandlockErr  string   `json:"landlock_err"`        // why none
	Writable     []string `json:"writable"`            // usable of /tmp and /dev/shm
	MissingCaps  []string `json:"missing_caps"`        // of those that root needs
	MemoryLimit  int64    `json:"memory_limit"`        // of the container, bytes; 0: none
	PidsLimit    int64    `json:"pids_limit"`          // of the container; 0: none
}

// PostureInfo is the posture in force and why it is no stronger one.
type PostureInfo struct {
	Asked string  `json:"asked"` // "auto" or a name
	Name  string  `json:"name"`  // empty: none can be built
	Level string  `json:"level"`
	Tried []Tried `json:"tried"` // stronger ones, strongest first
}

// Tried is a posture that can't be had here.
type Tried struct {
	Posture string `json:"posture"`
	Reason  string `json:"reason"`
	Fix     string `json:"fix"`
}

// Interpreter is the Python of the programs.
type Interpreter struct {
	Command    string    `json:"command"` // as set
	Executable string    `json:"executable"`
	Version    string    `json:"version"`
	Packages   []Package `json:"packages"`
	Fix        string    `json:"fix"`   // for the missing ones
	Reads      []string  `json:"reads"` // every directory of the host that it, and so a program, can read, besides the system's
}

// Package is one of the declared libraries; Version is empty where it is missing.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// LimitsInfo are the limits of one run and where they come from.
type LimitsInfo struct {
	MemoryBytes    int64 `json:"memory_bytes"`
	MemorySetting  int64 `json:"memory_setting"` // what MCP_EXEC_MEMORY_BYTES asks for
	MemoryIdle     int64 `json:"memory_idle"`    // what is used of the container's while nothing runs; 0: not measured
	MemoryReserve  int64 `json:"memory_reserve"` // kept free of the container's
	DataBytes      int64 `json:"data_bytes"`     // what the data libraries take of it
	DataPreloaded  bool  `json:"data_preloaded"` // they fit, and are loaded when they are first wanted
	Processes      int   `json:"processes"`
	ProcessSetting int   `json:"process_setting"` // what MCP_EXEC_MAX_PIDS asks for
	WorkspaceBytes int64 `json:"workspace_bytes"`
	OutputBytes    int   `json:"output_bytes"`
}

// What became of a protection.
const (
	Pass    = "PASS"
	Fail    = "FAIL"
	NotKept = "NOT KEPT" // by this posture
	Untried = "UNTRIED"  // an earlier failure came before it
)

// Protection is an invariant of SPEC with the attempts to break it.
type Protection struct {
	Name     string    `json:"name"`
	Status   string    `json:"status"`
	Reason   string    `json:"reason"` // why it is not kept, or not proven
	Fix      string    `json:"fix"`
	Attempts []Attempt `json:"attempts"`
}

// Role is a kind of process and the list of steps that confines it.
type Role struct {
	Name  string `json:"name"`
	Steps []Step `json:"steps"`
}

// Step is one system call of a list.
type Step struct {
	Name      string   `json:"name"`
	Arguments []string `json:"arguments"`
	Want      string   `json:"want"` // "0", or what any result is called
}

// settle puts the attempts beside the protections that must be there. What was
// not tried is not proven. trials: the limits have been met too.
func settle(f facts, attempts []Attempt, trials bool) []Protection {
	all := make([]Protection, 0, len(protections))
	for _, p := range protections {
		out := Protection{Name: p.name, Status: Pass, Attempts: append([]Attempt{}, attemptsOf(p.name, attempts)...)}
		if gap := p.gap(f); gap != "" {
			out.Status, out.Reason = NotKept, gap
		} else if err := broken(out.Attempts); err != nil {
			out.Status, out.Fix = Fail, p.fix
		} else if p.trial && !trials {
			out.Status, out.Reason = Untried, "an earlier one failed"
		} else if len(out.Attempts) == 0 {
			out.Status, out.Reason, out.Fix = Fail, "nothing was attempted", p.fix
		}
		all = append(all, out)
	}
	return all
}

// firstFailure names what stops a server, or is nil.
func firstFailure(all []Protection) *Protection {
	for i, p := range all {
		if p.Status == Fail {
			return &all[i]
		}
	}
	return nil
}

// showRole makes a list of steps readable.
func showRole(name string, steps []sandbox.Step) Role {
	role := Role{Name: name, Steps: []Step{}}
	for _, s := range steps {
		out := Step{Name: s.Name, Arguments: []string{}, Want: showWant(s)}
		for _, a := range s.Args {
			out.Arguments = append(out.Arguments, showArgument(s, a))
		}
		role.Steps = append(role.Steps, out)
	}
	return role
}

// showRoot lists what init makes the root directory of.
func showRoot(root []sandbox.Entry) Role {
	role := Role{Name: "root directory", Steps: []Step{}}
	for _, e := range root {
		step := Step{Name: "mount " + e.Path, Arguments: []string{"read-only"}, Want: "0"}
		if e.Link != "" {
			step.Name, step.Arguments = "symlink "+e.Path, []string{e.Link}
		}
		role.Steps = append(role.Steps, step)
	}
	return role
}

func showWant(s sandbox.Step) string {
	switch {
	case s.Bind != "":
		return "descriptor " + s.Bind
	case s.Any:
		return "any"
	case s.Name == "getppid" && s.Want == 0:
		return "pid of the reaper"
	}
	return fmt.Sprint(s.Want)
}

// showArgument writes numbers as numbers, descriptors by name, text as text, a
// struct rlimit by its values and other memory by its size.
func showArgument(s sandbox.Step, a sandbox.Arg) string {
	switch a := a.(type) {
	case sandbox.Int:
		return fmt.Sprint(int64(a))
	case sandbox.FD:
		return "descriptor " + string(a)
	case sandbox.Bytes:
		return showMemory(s.Name, a)
	}
	return "?"
}

const instructionBytes = 8 // of struct sock_filter

func showMemory(step string, a sandbox.Bytes) string {
	for _, data := range a.Pointers { // struct sock_fprog: one pointer, to the program
		return fmt.Sprintf("program of %d instructions", len(data)/instructionBytes)
	}
	if strings.HasPrefix(step, "prlimit64") && len(a.Data) == 16 {
		return fmt.Sprintf("{soft %d, hard %d}", binary.NativeEndian.Uint64(a.Data), binary.NativeEndian.Uint64(a.Data[8:]))
	}
	text := strings.TrimSuffix(string(a.Data), "\x00")
	if text != "" && printable(text) {
		return fmt.Sprintf("%q", text)
	}
	if !slices.ContainsFunc(a.Data, func(b byte) bool { return b != 0 }) {
		return fmt.Sprintf("%d zero bytes", len(a.Data))
	}
	return fmt.Sprintf("%d bytes", len(a.Data))
}
