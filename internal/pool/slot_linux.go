package pool

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// killWait bounds how long a reaper may take to say that a run was killed. It
// answers in less than a millisecond; under memory pressure it has taken seconds.
const killWait = 5 * time.Second

// goneWait bounds reaping and sweeping.
const goneWait = 30 * time.Second

// The pause after a slot could not be filled, doubling.
const (
	minRetry = 200 * time.Millisecond
	maxRetry = time.Minute
)

// cleanWait bounds how long a slot may take to be clean before the server gives up:
// until then no next run may begin.
const cleanWait = 60 * time.Second

// slot is a place for one worker at a time. Its goroutine fills it, offers it to
// calls, and after each run cleans up and fills it again. Between offer and
// return it belongs to the call.
type slot struct {
	number int
	pool   *Pool
	level  *level

	reaper  *forkserver.Process
	of      *forkserver.Process // the fork server that the reaper came from
	worker  *forkserver.Worker
	page    *forkserver.Page
	pipes   *forkserver.Pipes
	guarded []int // pids that the worker's filter protects; see Pool.protected
	used    bool  // the worker got a program
	broken  bool  // the reaper failed, and everything has been killed by other means

	returned chan func() // by the call, with what to do when the slot is clean
}

// keep is the life of a slot.
func (s *slot) keep(ctx context.Context) {
	defer s.drop()
	for s.worker != nil || s.refill(ctx) {
		if s.level.resting() {
			s.drop() // it began to rest meanwhile: give back what this slot holds
			continue
		}
		s.level.working()
		if s.pool.active.Load() == 0 {
			s.pool.measureIdle()
		}
		select {
		case s.level.ready <- s:
		case <-ctx.Done():
			return
		}
		done := <-s.returned
		if s.pool.roomy() {
			done() // the next run meets nothing of this one, and there is memory for it
			done = func() {}
		}
		if !s.clean(ctx) {
			return // and no next run: its token stays where it is
		}
		done()
	}
}

// refill tries until the slot holds a ready worker; false when ctx has ended.
func (s *slot) refill(ctx context.Context) bool {
	for wait := minRetry; ; wait = min(2*wait, maxRetry) {
		err := s.fill(ctx)
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			return true
		}
		s.pool.log.Warn("slot not filled", "level", s.level.name, "err", err)
		s.level.failed(err)
		s.drop()
		sleep(ctx, wait)
	}
}

// fill makes a reaper, where there is none or its fork server was replaced, and
// a ready worker.
func (s *slot) fill(ctx context.Context) error {
	if s.level.resting() {
		s.drop() // what it holds of the level's memory is given back too
	}
	if err := s.level.await(ctx); err != nil {
		return err
	}
	s.pool.forking.RLock()
	defer s.pool.forking.RUnlock()
	server, err := s.level.forkServer(ctx)
	if err != nil {
		return err
	}
	if s.of != server {
		s.drop()
	}
	if s.reaper == nil {
		s.reaper, err = s.pool.forkReaper(server)
		if err != nil {
			s.level.unfit(server)
			return err
		}
		s.of = server
		s.pool.tenants.enter(server)
		s.pool.protect(s.reaper.PID)
	}
	return s.forkWorker()
}

// sweep empties the directories that a run could write to. No other run may be
// under way.
func (s *slot) sweep() error {
	if err := s.reaper.Sweep(s.pool.posture.Writable); err != nil || !s.await("swept", "", goneWait) {
		return &sandbox.StepError{Step: "sweep", Err: errors.New("the last run's files can't be removed")}
	}
	return nil
}

func (s *slot) forkWorker() error {
	guarded := s.pool.protected()
	filter, err := s.pool.filter(guarded)
	if err != nil {
		return err
	}
	s.closeWorker()
	p := s.pool.posture
	if s.pipes, err = forkserver.NewPipes(p.UID(s.number)); err != nil {
		return err
	}
	if s.page, err = forkserver.NewPage(); err != nil {
		return err
	}
	steps := p.WorkerSteps(sandbox.Worker{
		Slot: s.number, Parent: s.reaper.PID, InheritedData: s.level.inherited(),
		Filter: filter, Limits: s.pool.environment.Limits,
	})
	worker, err := s.reaper.ForkWorker(forkserver.WorkerSpec{
		Steps: steps, Page: s.page, Pipes: s.pipes, Directory: runDirectory(p),
		Env: sandbox.WorkerEnv(p.Temp), FontList: s.pool.interpreter.FontList,
	})
	if err != nil {
		return err
	}
	s.worker, s.guarded = worker, guarded
	return nil
}

// runDirectory has a name that no earlier run can know, where there was one.
func runDirectory(p sandbox.Posture) string {
	if p.Namespaces {
		return filepath.Join(p.Temp, "work")
	}
	var name [16]byte
	_, _ = rand.Read(name[:])
	return filepath.Join(p.Temp, hex.EncodeToString(name[:]))
}

// fresh reports whether the offered worker still waits, under a filter that
// knows all our processes.
func (s *slot) fresh() bool {
	for quiet := false; !quiet; {
		select {
		case event := <-s.reaper.Events:
			if event.Kind != "rehearsed" {
				return false // its worker ended; or it is gone itself
			}
		default:
			quiet = true
		}
	}
	return s.pool.posture.Enclosed() || slices.Equal(s.guarded, s.pool.protected())
}

// kill ends the run now. When it returns, every process of the run has been
// sent SIGKILL.
func (s *slot) kill() error {
	if err := s.reaper.Kill(s.worker); err == nil {
		if s.await("killed", "exit", killWait) {
			return nil
		}
	}
	s.broken = true
	return s.pool.lastResort(s)
}

// await reads the reaper's events until one of two kinds; false when it is gone,
// reports a failure, or says neither in time.
func (s *slot) await(kind, or string, wait time.Duration) bool {
	timeout := time.After(wait)
	for {
		select {
		case event, ok := <-s.reaper.Events:
			if event.Kind == "failed" {
				s.pool.log.Error("reaper", "step", event.Step, "errno", event.Errno, "err", event.Error)
			}
			if !ok || event.Kind == "failed" {
				return false
			}
			if event.Kind == kind || event.Kind == or {
				return true
			}
		case <-timeout:
			return false
		}
	}
}

// clean makes the slot empty after its worker was used, or found unfit. It returns
// when the next run may begin; false: never.
func (s *slot) clean(ctx context.Context) bool {
	used := s.used
	defer func() { s.used, s.broken = false, false }()
	if used {
		s.level.count()
	}
	if s.pool.posture.Namespaces {
		return s.dissolve()
	}
	if s.emptied() {
		s.closeWorker()
		return true
	}
	s.drop() // a reaper that can't is replaced
	return !used || s.scour(ctx)
}

// dissolve ends the slot's namespaces, and with them all that the run has left.
func (s *slot) dissolve() bool {
	err := s.reaper.Destroy(cleanWait)
	if err != nil {
		s.pool.log.Error("slot not clean", "level", s.level.name, "slot", s.number, "err", err)
		s.pool.fail(err)
	}
	s.drop()
	return err == nil
}

// scour ends a run and removes its files without the help of its reaper.
func (s *slot) scour(ctx context.Context) bool {
	for deadline := time.Now().Add(cleanWait); ctx.Err() == nil; sleep(ctx, minRetry) {
		err := s.pool.lastResort(s)
		if err == nil {
			err = s.pool.sweepOld(ctx)
		}
		if err == nil {
			return true
		}
		s.pool.log.Error("slot not clean", "level", s.level.name, "slot", s.number, "err", err)
		if time.Now().After(deadline) {
			s.pool.fail(err)
		}
	}
	return false
}

func (s *slot) emptied() bool {
	_ = s.reaper.Kill(s.worker) // ignored where the run has ended
	if s.broken || !s.await("gone", "", goneWait) {
		return false
	}
	return !s.used || s.sweep() == nil
}

func (s *slot) closeWorker() {
	if s.worker != nil {
		s.worker.Close()
		s.worker = nil
	}
	if s.pipes != nil {
		s.pipes.Close()
		s.pipes = nil
	}
	if s.page != nil {
		s.page.Close()
		s.page = nil
	}
}

// drop lets the reaper end, and with it whatever is in the slot.
func (s *slot) drop() {
	s.closeWorker()
	if s.reaper != nil {
		s.pool.unprotect(s.reaper.PID)
		s.reaper.Close()
		s.pool.tenants.leave(s.of)
		s.reaper, s.of = nil, nil
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
