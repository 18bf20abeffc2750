package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// transport is how clients speak to the server.
type transport struct {
	Transport string `help:"How clients speak to the server: stdio. Default: ${default}." default:"stdio" placeholder:"NAME"`
}

// flags are the settings of programs, as text. Each has an environment variable of the
// same name, MCP_EXEC_MAX_TIMEOUT_S for --max-timeout-s. Empty is the default.
type flags struct {
	DefaultTimeout string `name:"default-timeout-s" help:"Wall-clock limit in seconds when the caller names none. Default: ${default}." default:"30" placeholder:"N"`
	MaxTimeout     string `name:"max-timeout-s" help:"Ceiling in seconds for what a caller may ask. Default: ${default}." default:"300" placeholder:"N"`
	MaxOutput      string `name:"max-output-bytes" help:"Cap on stdout and stderr together. Default: ${default}." default:"1048576" placeholder:"N"`
	MaxStdin       string `name:"max-stdin-bytes" help:"Cap on stdin. Default: ${default}." default:"1048576" placeholder:"N"`
	MaxCode        string `name:"max-code-bytes" help:"Cap on code. Default: ${default}." default:"1048576" placeholder:"N"`
	Python         string `help:"Interpreter, used exactly as given. Default: ${default}." default:"python3" placeholder:"COMMAND"`
	Isolation      string `help:"Posture: auto, or a name; refuse to start with less. Default: ${default}." default:"auto" placeholder:"NAME"`
	Concurrency    string `help:"Runs at once. Default: ${default}." default:"1" placeholder:"N"`
	MaxQueue       string `help:"Calls that may wait; more are refused at once. Default: ${default}." default:"64" placeholder:"N"`
	Memory         string `name:"memory-bytes" help:"Memory of one run, or what the container leaves. Default: ${default}." default:"268435456" placeholder:"N"`
	MaxPids        string `help:"Processes and threads of one run. Default: ${default}." default:"64" placeholder:"N"`
	Workspace      string `name:"workspace-bytes" help:"Size of the working and temp directory together. Default: ${default}." default:"67108864" placeholder:"N"`
}

// config is what the flags say, checked.
type config struct {
	limits      sandbox.Limits
	concurrency int
	queue       int
}

// setting is one number of flags: where it stands, what is allowed, where it goes.
type setting struct {
	variable string
	text     string
	min, max int64
	set      func(int64)
}

const day = 24 * 60 * 60 // seconds; no run needs longer

// check turns text into numbers. The error names variable, value and what is allowed.
func (f flags) check() (config, error) {
	var c config
	l := &c.limits
	seconds := func(d *time.Duration) func(int64) {
		return func(n int64) { *d = time.Duration(n) * time.Second }
	}
	number := func(i *int) func(int64) { return func(n int64) { *i = int(n) } }
	bytes := func(b *int64) func(int64) { return func(n int64) { *b = n } }
	const gib = 1 << 30
	for _, s := range []setting{
		{"MCP_EXEC_DEFAULT_TIMEOUT_S", f.DefaultTimeout, 1, day, seconds(&l.DefaultTimeout)},
		{"MCP_EXEC_MAX_TIMEOUT_S", f.MaxTimeout, 1, day, seconds(&l.MaxTimeout)},
		{"MCP_EXEC_MAX_OUTPUT_BYTES", f.MaxOutput, 1, gib, number(&l.OutputBytes)},
		{"MCP_EXEC_MAX_STDIN_BYTES", f.MaxStdin, 0, gib, number(&l.StdinBytes)},
		{"MCP_EXEC_MAX_CODE_BYTES", f.MaxCode, 1, gib, number(&l.CodeBytes)},
		{"MCP_EXEC_CONCURRENCY", f.Concurrency, 1, 64, number(&c.concurrency)},
		{"MCP_EXEC_MAX_QUEUE", f.MaxQueue, 0, math.MaxInt32, number(&c.queue)},
		{"MCP_EXEC_MEMORY_BYTES", f.Memory, 32 << 20, 1 << 50, bytes(&l.MemoryBytes)},
		{"MCP_EXEC_MAX_PIDS", f.MaxPids, 1, 1 << 20, number(&l.Processes)},
		{"MCP_EXEC_WORKSPACE_BYTES", f.Workspace, 1 << 20, 1 << 50, bytes(&l.WorkspaceBytes)},
	} {
		if err := s.parse(); err != nil {
			return config{}, err
		}
	}
	return c, f.checkRest(c)
}

func (s setting) parse() error {
	n, err := strconv.ParseInt(strings.TrimSpace(s.text), 10, 64)
	if err != nil || n < s.min || n > s.max {
		return fmt.Errorf("%s=%q: want a whole number from %d to %d", s.variable, s.text, s.min, s.max)
	}
	s.set(n)
	return nil
}

func (f flags) checkRest(c config) error {
	if c.limits.DefaultTimeout > c.limits.MaxTimeout {
		return f.timeoutsCross()
	}
	if !slices.Contains(isolations, f.Isolation) {
		return fmt.Errorf("MCP_EXEC_ISOLATION=%q: want %s", f.Isolation, list(isolations, "or"))
	}
	if strings.TrimSpace(f.Python) == "" {
		return errors.New("MCP_EXEC_PYTHON=\"\": want a command or a path")
	}
	return nil
}

// isolations are the postures that can be asked for; which of them this host gives
// is found out when the sandbox is built.
var isolations = append([]string{"auto"}, sandbox.Postures()...)

// defaultTimeout is what flags say, so what MCP_EXEC_DEFAULT_TIMEOUT_S is where
// nobody has set it.
const defaultTimeout = "30"

// timeoutsCross names the variable that was set: the other one may be unknown to
// who has set it.
func (f flags) timeoutsCross() error {
	if f.DefaultTimeout == defaultTimeout {
		return fmt.Errorf("MCP_EXEC_MAX_TIMEOUT_S=%q: want at least MCP_EXEC_DEFAULT_TIMEOUT_S, which is %s: lower that too",
			f.MaxTimeout, f.DefaultTimeout)
	}
	return fmt.Errorf("MCP_EXEC_DEFAULT_TIMEOUT_S=%q: want at most MCP_EXEC_MAX_TIMEOUT_S, which is %s", f.DefaultTimeout, f.MaxTimeout)
}

func (t transport) check() error {
	switch t.Transport {
	case "stdio":
		return nil
	case "http", "sse":
		return fmt.Errorf("MCP_EXEC_TRANSPORT=%q: this version serves stdio only", t.Transport)
	}
	return fmt.Errorf("MCP_EXEC_TRANSPORT=%q: want stdio, http or sse", t.Transport)
}

// list is "a, b or c".
func list(names []string, last string) string {
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}
