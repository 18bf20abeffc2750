// Package pool keeps confined workers ready, hands each one program, and says
// how it ended.
package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

const (
	slots      = 2                // of each level: one runs, one is ready
	renewAfter = 2000             // runs after which the fork servers are replaced
	dataRest   = 10 * time.Minute // without a use, then "data" is stopped
	readyWait  = 60 * time.Second // for a ready worker; only a broken sandbox takes longer
	maxTries   = 3                // of a call that finds its worker unfit
)

// Config is what main knows.
type Config struct {
	Isolation   string // "auto" or a posture
	Python      string // command, used as given
	Limits      sandbox.Limits
	Concurrency int // runs at once
	Queue       int // calls that may wait
	MaskABI     int // above 0: behave as on a kernel with this Landlock ABI, for tests
	Log         *slog.Logger
}

// Pool keeps confined workers ready and runs one program in each.
type Pool struct {
	log         *slog.Logger
	ctx         context.Context
	stop        context.CancelFunc
	posture     sandbox.Posture
	interpreter forkserver.Interpreter
	environment sandbox.Environment
	meter       meter
	base, data  *level
	keeping     sync.WaitGroup
	forking     sync.RWMutex // held by a run while nothing may be forked beside it; only without signal scope

	running  *semaphore.Weighted // first come, first served
	calls    atomic.Int64        // that wait or run
	most     int64               // of them at once
	active   atomic.Int64        // programs that run now
	dataless bool                // the data libraries do not fit in memory

	mu      sync.Mutex            // protects what follows
	reapers []*forkserver.Process // of last resort, one in the domain of each first fork server
	guarded map[int]bool          // our processes, for filters on kernels without signal scope
	idle    usage
	filters map[string][]byte
	loading bool  // the data libraries, beside whatever runs
	err     error // that stopped the pool
}

// New builds the strongest posture that this host gives, and proves it in a
// worker. An error says what is missing.
func New(ctx context.Context, c Config) (*Pool, error) {
	if c.Concurrency != 1 {
		return nil, fmt.Errorf("concurrency %d: posture landlock runs one program at a time; use replicas", c.Concurrency)
	}
	interpreter, err := forkserver.Inspect(ctx, c.Python)
	if err != nil {
		return nil, err
	}
	if missing := interpreter.Missing(); len(missing) > 0 {
		c.Log.Warn("packages missing: programs can't import them", "python", c.Python, "missing", missing)
	}
	posture, err := sandbox.Choose(c.Isolation, sandbox.Probe(c.MaskABI))
	if err != nil {
		return nil, err
	}
	if path := interpreter.Unreachable(); path != "" && posture.OwnUID {
		return nil, &sandbox.Refusal{
			Reason: fmt.Sprintf("python %s: programs run with an uid of their own, which can't read %s", interpreter.Executable, path),
			Hint:   "set MCP_EXEC_PYTHON to one that everybody can read; deploy/python/setup finds or makes it and prints its path",
		}
	}
	ctx, stop := context.WithCancel(ctx)
	p := &Pool{
		log: c.Log, ctx: ctx, stop: stop, posture: posture, interpreter: interpreter,
		environment: sandbox.Environment{Python: interpreter.Version, Modules: interpreter.Installed(),
			Posture: posture.Name, Limits: c.Limits},
		running: semaphore.NewWeighted(int64(c.Concurrency)), most: int64(c.Queue + c.Concurrency),
		guarded: map[int]bool{1: true, os.Getpid(): true}, filters: map[string][]byte{},
	}
	if os.Getpid() == 1 {
		go forkserver.ReapOrphans(ctx)
	}
	if err := p.begin(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Pool) begin() error {
	p.base, p.data = newLevel(p, "base"), newLevel(p, "data")
	p.base.start, p.base.renewal = p.startBase, true
	p.data.start = p.startData
	p.meter = p.newMeter()
	p.base.want()
	if err := p.sweepOld(p.ctx); err != nil {
		return err
	}
	if err := p.budget(); err != nil {
		return err
	}
	for n := range 2 * slots {
		l := p.base
		if n >= slots {
			l = p.data
		}
		s := &slot{number: n, pool: p, level: l, returned: make(chan func(), 1)}
		p.keeping.Go(func() { s.keep(p.ctx) })
	}
	if err := p.selfTest(); err != nil {
		return err
	}
	p.log.Info("sandbox ready", "posture", p.posture.Name, "level", p.posture.Level(),
		"memory_bytes", p.environment.Limits.MemoryBytes, "processes", p.environment.Limits.Processes)
	go p.restIdle()
	return nil
}

// Environment is what a program finds.
func (p *Pool) Environment() sandbox.Environment { return p.environment }

// Prepare loads the data libraries in the background.
func (p *Pool) Prepare() {
	if len(p.environment.Modules) > 0 && !p.dataless {
		p.data.want()
	}
}

// Run runs one program. It waits for its turn, first come first served; a
// caller that gives up leaves the queue.
func (p *Pool) Run(ctx context.Context, req sandbox.Request) (sandbox.Result, error) {
	// A call counts until its answer is ready: cleaning up after it is no queue.
	defer p.calls.Add(-1)
	if p.calls.Add(1) > p.most {
		return sandbox.Result{}, sandbox.ErrBusy
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(p.ctx, stop)() // who stops the server stops its runs
	return p.run(ctx, req, p.environment.Limits.OutputBytes)
}

func (p *Pool) run(ctx context.Context, req sandbox.Request, outputCap int) (sandbox.Result, error) {
	if err := p.running.Acquire(ctx, 1); err != nil {
		return sandbox.Result{}, err
	}
	for tries := 0; tries < maxTries; {
		s, err := p.take(ctx, p.levelFor(req.Code))
		if err != nil {
			p.running.Release(1)
			return sandbox.Result{}, err
		}
		res, err := sandbox.Result{}, forkserver.ErrNotStarted
		if s.fresh() {
			res, err = s.execute(ctx, req, outputCap)
			tries++
		}
		if !errors.Is(err, forkserver.ErrNotStarted) {
			s.returned <- func() { p.running.Release(1) }
			return res, err
		}
		clean := make(chan struct{})
		s.returned <- func() { close(clean) }
		select {
		case <-clean: // before another run: its files would be swept too
		case <-ctx.Done():
			go func() { // the next run waits for it all the same
				<-clean
				p.running.Release(1)
			}()
			return sandbox.Result{}, ctx.Err()
		}
	}
	p.running.Release(1)
	return sandbox.Result{}, &sandbox.StepError{Step: "worker", Err: forkserver.ErrNotStarted}
}

func (p *Pool) levelFor(code string) *level {
	if !wantsData(code) || len(p.environment.Modules) == 0 || p.dataless || p.data.failure() != nil {
		return p.base
	}
	return p.data
}

// take waits for a ready worker.
func (p *Pool) take(ctx context.Context, l *level) (*slot, error) {
	l.want()
	timeout := time.NewTimer(readyWait)
	defer timeout.Stop()
	select {
	case s := <-l.ready:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timeout.C:
		if err := l.failure(); err != nil {
			return nil, err
		}
		return nil, &sandbox.StepError{Step: "worker", Err: errors.New("none became ready")}
	}
}

// Close ends every run and process. It waits until they are gone, for a bounded time.
func (p *Pool) Close() {
	p.stop()
	p.keeping.Wait()
	p.closeLastReapers(0)
	for _, l := range []*level{p.data, p.base} {
		l.mu.Lock()
		if l.server != nil {
			l.server.Close()
			l.server = nil
		}
		l.mu.Unlock()
	}
}

// fail stops a pool that can't make sure any more that runs are kept apart.
func (p *Pool) fail(err error) {
	p.mu.Lock()
	p.err = err
	p.mu.Unlock()
	p.stop()
}

// Done is closed when the pool has stopped; Err says why, if not by Close.
func (p *Pool) Done() <-chan struct{} { return p.ctx.Done() }

// Err is the failure that stopped the pool, or nil.
func (p *Pool) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
