package pool

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// selftest.py tries in a live worker what no program may do.
//
//go:embed selftest.py
var selfTestCode string

// facts are what the attempts depend on; selftest.py reads them from stdin.
type facts struct {
	Posture     string   `json:"posture"`
	Server      int      `json:"server"`      // the server's pid, or what it would be
	Bounding    bool     `json:"bounding"`    // the bounding set was emptied
	Namespaces  bool     `json:"namespaces"`  // own network, processes, ipc and file system
	OwnIPC      bool     `json:"own_ipc"`     // System V IPC and message queues are allowed
	Root        []string `json:"root"`        // what the root directory is made of, in namespaces
	ReadList    bool     `json:"read_list"`   // files outside a list are closed
	LandlockABI int      `json:"landlock"`    // 0: not used
	Processes   int      `json:"processes"`   // as many may be there at once
	FileBytes   int64    `json:"file_bytes"`  // no file may be larger
	OpenFiles   int      `json:"open_files"`  // as many may be open at once
	Environment []string `json:"environment"` // the variables that a program may find
}

func newFacts(p sandbox.Posture, server int, l sandbox.Limits, root []sandbox.Entry) facts {
	f := facts{
		Posture:     p.Name,
		Server:      server,
		Bounding:    p.Bounding > 0,
		Namespaces:  p.Namespaces,
		OwnIPC:      p.OwnIPC,
		ReadList:    p.Namespaces || p.ABI > 0,
		LandlockABI: p.ABI,
		Processes:   l.Processes,
		FileBytes:   l.WorkspaceBytes,
		Root:        []string{},
	}
	for _, e := range root {
		f.Root = append(f.Root, e.Path)
	}
	for _, pair := range slices.Concat(sandbox.ServerEnv(), sandbox.WorkerEnv(p.Temp)) {
		name, _, _ := strings.Cut(pair, "=")
		f.Environment = append(f.Environment, name)
	}
	return f
}

// protection is an invariant of a run. Every attempt to break it must be refused.
type protection struct {
	name    string
	fix     string             // when an attempt was not refused
	trial   bool               // proven by meeting a limit: by doctor only
	missing func(facts) string // why a posture does not keep it, or empty
}

// gap is why it is not kept, or empty.
func (p protection) gap(f facts) string {
	if p.missing == nil {
		return ""
	}
	return p.missing(f)
}

// What to do when the kernel did not refuse what the filter or the ruleset denies:
// there is no setting that would bring it about.
const fault = "a fault of mcp-exec or of this kernel: do not use it here, and report it with the output of doctor --json"

// protections are those of every run, in the order in which doctor shows them.
var protections = []protection{
	{name: "no network", fix: fault},
	{name: "not root", fix: "start it as an ordinary uid: --user 65532:65532"},
	{name: "no capabilities", fix: "start it with --cap-drop ALL"},
	{name: "no new privileges", fix: "start it with --security-opt no-new-privileges"},
	{name: "read-only system", fix: "start it with --read-only, and as an uid that owns no file of the system"},
	{name: "files outside the read list", fix: fault, missing: needsLandlock},
	{name: "private directory", fix: "give it a tmpfs of its own: --tmpfs /tmp:rw,noexec,nosuid,size=64m"},
	{name: "environment from nothing", fix: fault},
	{name: "no inherited descriptors", fix: fault},
	{name: "server's memory and environment", fix: fault},
	{name: "server can't be signalled", fix: fault},
	{name: "server can't be traced", fix: fault},
	{name: "server can't be slowed", fix: fault},
	{name: "system calls", fix: fault},
	{name: "nothing shared between runs", fix: fault},
	{name: "CPU", fix: fault},
	{name: "memory", fix: "lower MCP_EXEC_MEMORY_BYTES below what this machine or container has, or raise --memory"},
	{name: "file size", fix: fault},
	{name: "open files", fix: "raise the hard limit of open files above 512: --ulimit nofile=1024"},
	{name: "wall clock", fix: fault, trial: true},
	{name: "processes", fix: "lower MCP_EXEC_MAX_PIDS, or raise --pids-limit", trial: true},
	{name: "space for files", fix: "give it a tmpfs of limited size: --tmpfs /tmp:rw,noexec,nosuid,size=64m", trial: true},
	{name: "output", fix: fault, trial: true},
	{name: "nothing outlives a run", fix: fault, trial: true},
	{name: "server unharmed", fix: fault, trial: true},
}

func needsLandlock(f facts) string {
	if f.ReadList {
		return ""
	}
	return "posture " + f.Posture + " has no read list: programs read what the server's uid may read; it needs Landlock"
}

// Attempt is one forbidden act that was tried in a live worker.
type Attempt struct {
	Protection string `json:"protection"`
	Attempt    string `json:"attempt"`
	OK         bool   `json:"ok"`     // it was refused
	Detail     string `json:"detail"` // by which errno
}

// Bounds on what a self-test may print: it is a program's output.
const (
	maxAttempts = 500
	maxText     = 200 // bytes of a name or a detail
)

// parseAttempts reads what the self-test printed. All of it must be understood.
func parseAttempts(text string) ([]Attempt, error) {
	var found []Attempt
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		a, err := parseAttempt(line)
		if err != nil {
			return found, err
		}
		if key := a.Protection + "\x00" + a.Attempt; !seen[key] {
			seen[key] = true
		} else {
			return found, fmt.Errorf("attempt %q is there twice", a.Attempt)
		}
		if found = append(found, a); len(found) > maxAttempts {
			return found[:maxAttempts], fmt.Errorf("more than %d attempts", maxAttempts)
		}
	}
	return found, nil
}

func parseAttempt(line string) (Attempt, error) {
	var a Attempt
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, fmt.Errorf("line %.80q is no attempt: %w", line, err)
	}
	if strings.TrimSpace(line[d.InputOffset():]) != "" {
		return a, fmt.Errorf("line %.80q has more than an attempt", line)
	}
	if !known(a.Protection) {
		return a, fmt.Errorf("protection %.80q is not known", a.Protection)
	}
	if a.Attempt == "" || !printable(a.Attempt) || !printable(a.Detail) {
		return a, fmt.Errorf("line %.80q: want names of 1 to %d printable bytes", line, maxText)
	}
	return a, nil
}

func known(name string) bool {
	return slices.ContainsFunc(protections, func(p protection) bool { return p.name == name })
}

func printable(text string) bool {
	return len(text) <= maxText && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// attemptsOf are those of one protection.
func attemptsOf(name string, all []Attempt) []Attempt {
	var own []Attempt
	for _, a := range all {
		if a.Protection == name {
			own = append(own, a)
		}
	}
	return own
}

// unproven is the first protection that the attempts do not prove, or nil. What
// was not tried is not proven.
func unproven(f facts, all []Attempt) error {
	for _, p := range protections {
		if p.trial || p.gap(f) != "" {
			continue
		}
		if len(attemptsOf(p.name, all)) == 0 {
			return fmt.Errorf("%s: nothing was attempted", p.name)
		}
	}
	return nil
}

// broken is the first attempt that was not refused, or nil.
func broken(all []Attempt) error {
	for _, a := range all {
		if !a.OK {
			return fmt.Errorf("%s: %s: %s", a.Protection, a.Attempt, a.Detail)
		}
	}
	return nil
}

// selfTestError is a self-test that has failed, with all that it tried.
type selfTestError struct {
	cause    error
	facts    facts
	attempts []Attempt
}

func (e *selfTestError) Error() string { return e.cause.Error() }

// judge decides on a self-test by what it printed and how it ended.
func judge(f facts, res sandbox.Result) ([]Attempt, error) {
	attempts, err := parseAttempts(res.Stdout)
	if err == nil {
		err = broken(attempts)
	}
	if err == nil && (res.ExitCode != 0 || res.Truncated) {
		err = fmt.Errorf("it did not come to its end: exit %d: %s", res.ExitCode, lastLine(res.Stderr))
	}
	if err == nil {
		err = unproven(f, attempts)
	}
	if err != nil {
		err = &sandbox.StepError{Step: "self-test", Err: &selfTestError{err, f, attempts}}
	}
	return attempts, err
}

// lastLine of what a program printed, fit to be shown.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return clean(lines[len(lines)-1], maxText)
}

// clean makes foreign text fit for a terminal and a line.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	return text[:len(first([]byte(text), most))]
}
