package pool

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

const setupHint = "deploy/python/setup finds or makes one with the six libraries and prints its path"

// Diagnose does what a server does at its start, then meets the limits, and tells
// all of it. steady is what a server does first. Nothing is left running.
func Diagnose(ctx context.Context, c Config, steady func(*slog.Logger) error) *Report {
	messages := &messages{}
	c.Log = slog.New(messages)
	r := newReport(c)
	err := steady(c.Log)
	if err == nil {
		err = r.examine(ctx, c)
	}
	r.Messages = messages.all()
	r.Serves = err == nil
	if err != nil {
		r.Reason, r.Fix = clean(err.Error(), 1000), fixFor(err)
	}
	if err != nil && r.Host.ProcErr != "" {
		r.Fix = "mount a whole /proc: " + r.Host.ProcErr
	}
	return r
}

func newReport(c Config) *Report {
	return &Report{Host: newHost(c), Posture: PostureInfo{Asked: c.Isolation, Tried: []Tried{}},
		Interpreter: Interpreter{Command: c.Python, Packages: []Package{}, Reads: []string{}}, Protections: []Protection{}, Roles: []Role{}}
}

func newHost(c Config) Host {
	have := sandbox.Probe(c.MaskABI)
	h := Host{
		System: "Linux", Release: have.Kernel, Architecture: runtime.GOARCH, UID: os.Geteuid(), PID: os.Getpid(),
		ProcErr:   maskedProc(),
		Container: have.Container, ContainerErr: have.ContainerErr,
		UserNSErr: have.UserNSErr, LandlockABI: have.LandlockABI, LandlockErr: have.LandlockErr,
		Writable: append([]string{}, have.Writable...), MissingCaps: append([]string{}, have.MissingCaps...),
	}
	if group := findCgroup(); group != nil {
		h.MemoryLimit, h.PidsLimit = group.memoryLimit, group.pidsLimit
	}
	return h
}

// maskedProc names the first thing of /proc that a server reads and that is not
// there. What follows from it looks like something else.
func maskedProc() string {
	for _, name := range []string{"exe", "ns/pid"} {
		if _, err := os.Readlink("/proc/self/" + name); err != nil {
			return err.Error()
		}
	}
	for _, name := range []string{"self/uid_map", "self/mountinfo", "self/stat", "self/statm", "self/task"} {
		file, err := os.Open("/proc/" + name)
		if err != nil {
			return err.Error()
		}
		info, err := file.Stat()
		file.Close()
		if err == nil && info.Mode()&os.ModeDevice != 0 {
			return "/proc/" + name + " is a device"
		}
	}
	return ""
}

// examine fills the report as far as it gets. The error stops a server too.
func (r *Report) examine(ctx context.Context, c Config) error {
	interpreter, err := forkserver.Inspect(ctx, c.Python)
	if err != nil {
		return err
	}
	r.describe(interpreter)
	p, err := New(ctx, c)
	if err != nil {
		r.failed(c, err)
		return err
	}
	defer p.Close()
	r.passedOver(sandbox.Probe(c.MaskABI), p.passedOver)
	return r.prove(p, c)
}

// passedOver says why it is no stronger posture.
func (r *Report) passedOver(have sandbox.Support, all []sandbox.Attempt) {
	for _, a := range all {
		fix := a.Hint(have)
		if fix == "" {
			fix = fixFor(a.Err)
		}
		r.Posture.Tried = append(r.Posture.Tried, Tried{Posture: a.Posture, Reason: clean(a.Reason(have), 1000), Fix: fix})
	}
}

func (r *Report) describe(i forkserver.Interpreter) {
	r.Interpreter.Executable, r.Interpreter.Version, r.Interpreter.Reads = i.Executable, i.Version, i.Tops()
	for _, p := range i.Packages {
		r.Interpreter.Packages = append(r.Interpreter.Packages, Package{Name: p.Name, Version: p.Version})
	}
	if missing := i.Missing(); len(missing) > 0 {
		r.Interpreter.Fix = "install " + strings.Join(missing, ", ") + " into it, or set MCP_EXEC_PYTHON: " + setupHint
	}
}

// failed shows what each posture failed at, and the last self-test among it.
func (r *Report) failed(c Config, err error) {
	have := sandbox.Probe(c.MaskABI)
	var passed *passedError
	if !errors.As(err, &passed) {
		return
	}
	r.passedOver(have, passed.attempts)
	for _, a := range passed.attempts {
		var test *selfTestError
		if errors.As(a.Err, &test) {
			r.Protections = settle(test.facts, test.attempts, false)
		}
	}
}

// prove describes a sandbox that stands, and meets its limits.
func (r *Report) prove(p *Pool, c Config) error {
	r.Posture.Name, r.Posture.Level = p.posture.Name, p.posture.Level()
	r.Limits = p.limitsInfo(c.Limits)
	r.Roles = p.roles()
	attempts := p.attempts
	for _, t := range trials {
		req, most := t.request(p.environment.Limits)
		attempts = append(attempts, t.outcome(p.run(p.ctx, req, most)))
		if p.ctx.Err() != nil {
			return cmp.Or(p.Err(), errInterrupted)
		}
	}
	r.Protections = settle(p.facts(), attempts, true)
	if bad := firstFailure(r.Protections); bad != nil {
		return &unprovenError{*bad}
	}
	return p.Err()
}

var errInterrupted = errors.New("interrupted before all was tried")

func (p *Pool) limitsInfo(asked sandbox.Limits) *LimitsInfo {
	l := p.environment.Limits
	info := &LimitsInfo{
		MemoryBytes: l.MemoryBytes, MemorySetting: asked.MemoryBytes,
		DataPreloaded: !p.dataless && len(p.environment.Modules) > 0,
		Processes:     l.Processes, ProcessSetting: asked.Processes,
		WorkspaceBytes: l.WorkspaceBytes, OutputBytes: l.OutputBytes,
	}
	if p.inUse > 0 {
		info.MemoryIdle, info.MemoryReserve = p.inUse, reserve
		if !p.dataless {
			info.DataBytes = dataFootprint
		}
	}
	return info
}

// roles are the kinds of process, and the steps that confine each.
func (p *Pool) roles() []Role {
	limits := p.environment.Limits
	worker := sandbox.Worker{InheritedData: p.base.inherited(), Limits: limits}
	if filter, err := p.filter(p.protected()); err == nil {
		worker.Filter = filter
	}
	before, after := p.posture.ForkSteps()
	all := []Role{
		showRoot(p.root),
		showRole("fork server", p.posture.ServerSteps()),
		showRole("fork server before it forks a reaper", before),
		showRole("fork server after it has forked a reaper", after),
		showRole("reaper", p.posture.ReaperSteps(sandbox.Slot{Root: p.root, Limits: limits})),
		showRole("worker", p.posture.WorkerSteps(worker)),
		showRole("call", p.posture.CallSteps(limits.DefaultTimeout)),
	}
	return slices.DeleteFunc(all, func(r Role) bool { return len(r.Steps) == 0 })
}

// unprovenError is a protection that was not proven.
type unprovenError struct{ protection Protection }

func (e *unprovenError) Error() string {
	if err := broken(e.protection.Attempts); err != nil {
		return err.Error()
	}
	return e.protection.Name + ": " + e.protection.Reason
}

const forking = "this interpreter does not live on when it is forked: set MCP_EXEC_PYTHON to another; " + setupHint

// fixes are remedies by the step that failed.
var fixes = map[string]string{
	"fork server": forking, "reaper": forking, "worker": forking, "preload": forking,
	"landlock ruleset ruleset.worker": "all that MCP_EXEC_PYTHON reads must be there, and not below /tmp or /dev/shm: programs have their own",
	"sweep":                           "/tmp and /dev/shm must be writable: --tmpfs /tmp:rw,noexec,nosuid,size=64m",
	"directory":                       "/tmp must be writable: --tmpfs /tmp:rw,noexec,nosuid,size=64m",
}

// fixFor is what to do about an error that stops a server.
func fixFor(err error) string {
	var (
		refusal  *sandbox.Refusal
		setting  *sandbox.SettingError
		unproven *unprovenError
		test     *selfTestError
		step     *sandbox.StepError
		notFound *exec.Error
	)
	switch {
	case errors.As(err, &refusal):
		return refusal.Hint
	case errors.As(err, &unproven):
		return unproven.protection.Fix
	case errors.As(err, &test):
		return fixOf(test.attempts)
	case errors.As(err, &notFound), strings.HasPrefix(err.Error(), "python"):
		return "set MCP_EXEC_PYTHON to a CPython 3.10 or later: " + setupHint
	case errors.As(err, &setting):
		return "set " + setting.Variable + "=1"
	case strings.HasPrefix(err.Error(), "memory:"):
		return "raise --memory of the container"
	case strings.HasPrefix(err.Error(), "processes:"):
		return "raise --pids-limit of the container"
	case errors.As(err, &step) && fixes[step.Step] != "":
		return fixes[step.Step]
	}
	return ""
}

func fixOf(attempts []Attempt) string {
	for _, a := range attempts {
		for _, p := range protections {
			if !a.OK && p.name == a.Protection {
				return p.fix
			}
		}
	}
	return fault
}

// messages keeps warnings and errors of a log, within bounds.
type messages struct {
	mu    sync.Mutex // protects lines
	lines []string
}

const maxMessages = 50

func (m *messages) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle adds a line: "message: key value, key value".
func (m *messages) Handle(_ context.Context, record slog.Record) error {
	text := record.Message
	record.Attrs(func(a slog.Attr) bool {
		text += ", " + a.Key + " " + a.Value.String()
		return true
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lines) < maxMessages {
		m.lines = append(m.lines, clean(text, 1000))
	}
	return nil
}

// WithAttrs is not used by this package's log.
func (m *messages) WithAttrs([]slog.Attr) slog.Handler { return m }

// WithGroup is not used either.
func (m *messages) WithGroup(string) slog.Handler { return m }

func (m *messages) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string{}, m.lines...)
}
