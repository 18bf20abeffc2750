package pool

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func (p *Pool) startBase(context.Context) (*forkserver.Process, int64, error) {
	size := p.environment.Limits.WorkspaceBytes
	spec := sandbox.InitSpec{Posture: p.posture, Python: p.interpreter.Executable, Size: size,
		Read: p.readList(), Root: p.root}
	server, err := forkserver.Start(spec, p.posture.ServerSteps(), logWriter{p.log})
	if err != nil {
		return nil, 0, err
	}
	data, err := p.preload(server, "base", baseModules)
	if err == nil && p.posture.SignalScope {
		err = p.forkLastReaper(server)
	}
	if err != nil {
		server.Close()
		return nil, 0, err
	}
	return server, data, nil
}

func (p *Pool) startData(ctx context.Context) (*forkserver.Process, int64, error) {
	base, err := p.base.forkServer(ctx)
	if err != nil {
		return nil, 0, err
	}
	p.loadingData(true)
	defer p.loadingData(false)
	server, err := base.ForkServer(nil)
	if err != nil {
		return nil, 0, err
	}
	p.tenants.enter(base)
	data, err := p.preload(server, "data", p.interpreter.Importable(dataModules))
	if err != nil {
		p.tenants.retire(server)
		return nil, 0, err
	}
	return server, data, nil
}

func (p *Pool) preload(server *forkserver.Process, level string, modules []string) (int64, error) {
	// Who stops the server does not wait for libraries to load.
	defer context.AfterFunc(p.ctx, server.Close)()
	data, missing, err := server.Preload(modules, p.interpreter.FontCache())
	for name, reason := range missing {
		p.log.Warn("module not preloaded", "level", level, "module", name, "err", reason)
	}
	return data, err
}

// sweepOld removes what an earlier server in this container, or a run whose reaper
// failed, left behind.
func (p *Pool) sweepOld(ctx context.Context) error {
	if p.posture.Namespaces {
		return nil // every run has mounts of its own
	}
	server, err := p.base.forkServer(ctx)
	if err != nil {
		return err
	}
	reaper, err := p.forkReaper(server)
	if err != nil {
		return err
	}
	s := &slot{pool: p, level: p.base, reaper: reaper, of: server}
	p.tenants.enter(server)
	defer s.drop()
	return s.sweep()
}

func (p *Pool) forkReaper(server *forkserver.Process) (*forkserver.Process, error) {
	before, after := p.posture.ForkSteps()
	return server.ForkReaper(forkserver.ReaperSpec{Before: before, After: after, Enclosed: p.posture.Enclosed(),
		Steps: p.posture.ReaperSteps(sandbox.Slot{Root: p.root, Limits: p.environment.Limits})})
}

// forkLastReaper makes the process that ends everything in the fork servers'
// signal domain when its control socket closes: when we ask, or when we die.
func (p *Pool) forkLastReaper(server *forkserver.Process) error {
	reaper, err := server.ForkReaper(forkserver.ReaperSpec{Enclosed: true})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reapers = append(p.reapers, reaper)
	return nil
}

// closeLastReapers ends all signal domains but the newest keep ones.
func (p *Pool) closeLastReapers(keep int) {
	p.mu.Lock()
	old := p.reapers[:max(0, len(p.reapers)-keep)]
	p.reapers = p.reapers[len(old):]
	p.mu.Unlock()
	for _, reaper := range old {
		reaper.Close()
	}
}

// lastResort kills everything that could belong to a run, where its reaper did
// not. An error says that even this can't be shown to have worked.
func (p *Pool) lastResort(s *slot) error {
	p.log.Error("last resort: killing all processes that may be a program's", "slot", s.number)
	if p.posture.Namespaces {
		return s.reaper.Destroy(goneWait)
	}
	if p.posture.OwnUID {
		return killUID(p.posture.UID(s.number))
	}
	// Everything in this container's pid namespace but ourselves and its init,
	// the fork servers too: they are started anew. See kill(2) on pid -1.
	if err := unix.Kill(-1, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return &sandbox.StepError{Step: "kill", Err: err}
	}
	return nil
}

// replace makes the fork servers anew.
func (p *Pool) replace() {
	release, err := p.pause()
	if err != nil {
		return
	}
	p.base.reset()
	release()
	p.renew("many runs")
}

// pause waits for the end of a run that would not outlive the processes that are to be
// replaced. In namespaces a run goes on: what it was made from ends after it.
func (p *Pool) pause() (release func(), err error) {
	if p.posture.Namespaces {
		return func() {}, nil
	}
	if err := p.running.Acquire(p.ctx, 1); err != nil {
		return nil, err
	}
	return func() { p.running.Release(1) }, nil
}

// renew starts what is missing, and ends all that was made from an earlier first
// fork server.
func (p *Pool) renew(why string) {
	release, err := p.pause()
	if err != nil {
		return
	}
	defer release()
	p.log.Info("fork servers replaced", "why", why)
	p.data.reset()
	if _, err := p.base.forkServer(p.ctx); err != nil {
		p.log.Error("fork server", "err", err)
		return
	}
	p.base.discard()
	p.closeLastReapers(1)
}

func (p *Pool) restIdle() {
	for p.ctx.Err() == nil {
		sleep(p.ctx, time.Minute)
		p.data.rest(dataRest)
	}
}

// logWriter is where the interpreters' own messages go: never a program's.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	w.log.Warn("fork server", "message", string(p))
	return len(p), nil
}
