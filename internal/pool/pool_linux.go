// Package pool keeps confined workers ready, hands each one program, and says
// how it ended.
package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

const (
	renewAfter = 2000             // runs after which the fork servers are replaced
	dataRest   = 10 * time.Minute // without a use, then "data" is stopped
	readyWait  = 60 * time.Second // for a ready worker; only a broken sandbox takes longer
	maxTries   = 3                // of a call that finds its worker unfit
	maxTurns   = 100              // of the same, with those whose workers were unfit
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
	root        []sandbox.Entry // of the root directory, in namespaces
	passedOver  []sandbox.Attempt
	interpreter forkserver.Interpreter
	environment sandbox.Environment
	meter       meter
	base, data  *level
	tenants     *tenants
	keeping     sync.WaitGroup
	forking     sync.RWMutex // held by a run while nothing may be forked beside it; only without signal scope

	width    int64               // runs at once
	running  *semaphore.Weighted // first come, first served
	calls    atomic.Int64        // that wait or run
	most     int64               // of them at once
	active   atomic.Int64        // programs that run now
	dataless bool                // the data libraries do not fit in memory
	attempts []Attempt           // of the self-test
	inUse    int64               // of the container's limited memory, before any run; bytes

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
	if err := sandbox.KeepDescriptors(); err != nil {
		return nil, err
	}
	interpreter, err := forkserver.Inspect(ctx, c.Python)
	if err != nil {
		return nil, err
	}
	if missing := interpreter.Missing(); len(missing) > 0 {
		c.Log.Warn("packages missing: programs can't import them", "python", c.Python, "missing", missing)
	}
	have := sandbox.Probe(c.MaskABI)
	var failed []sandbox.Attempt
	for {
		posture, passed, err := sandbox.Choose(c.Isolation, have, failed)
		for _, a := range passed[len(failed):] {
			c.Log.Info("posture not available", "posture", a.Posture, "reason", a.Err)
		}
		if err != nil {
			return nil, &passedError{err, passed}
		}
		p, err := build(ctx, c, posture, interpreter)
		if err == nil {
			p.passedOver = passed
			return p, nil
		}
		if !sandbox.ReasonToTryAnother(err) || ctx.Err() != nil {
			return nil, &passedError{err, passed}
		}
		failed = append(passed, sandbox.Attempt{Posture: posture.Name, Err: remedied(err)})
		c.Log.Info("posture not available", "posture", posture.Name, "reason", err)
	}
}

// passedError tells with an error which postures had failed before it.
type passedError struct {
	error
	attempts []sandbox.Attempt
}

func (e *passedError) Unwrap() error { return e.error }

// remedied adds what to do to a step that fails for another reason than the posture.
func remedied(err error) error {
	var step *sandbox.StepError
	if errors.As(err, &step) && fixes[step.Step] != "" {
		return &sandbox.Refusal{Reason: err.Error(), Hint: fixes[step.Step]}
	}
	return err
}

// build makes a pool of one posture.
func build(ctx context.Context, c Config, posture sandbox.Posture, interpreter forkserver.Interpreter) (*Pool, error) {
	if err := fits(c, posture, interpreter); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	p := &Pool{
		log: c.Log, ctx: ctx, stop: stop, posture: posture, interpreter: interpreter,
		environment: sandbox.Environment{Python: interpreter.Version, Modules: interpreter.Installed(),
			Posture: posture.Name, Limits: c.Limits},
		width: int64(c.Concurrency), running: semaphore.NewWeighted(int64(c.Concurrency)), most: int64(c.Queue + c.Concurrency),
		tenants: newTenants(), guarded: map[int]bool{1: true, os.Getpid(): true}, filters: map[string][]byte{},
	}
	if posture.Namespaces {
		p.root = sandbox.RootEntries(p.readList())
	} else if err := sandbox.Hide(); err != nil {
		stop()
		return nil, err
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

// fits refuses what a posture can't do for this configuration.
func fits(c Config, posture sandbox.Posture, interpreter forkserver.Interpreter) error {
	if c.Concurrency != 1 && !posture.Namespaces {
		return &sandbox.SettingError{Variable: "MCP_EXEC_CONCURRENCY", Value: strconv.Itoa(c.Concurrency),
			Want: "posture " + posture.Name + " runs one program at a time; use replicas, or see mcp-exec doctor for why it is not namespaces"}
	}
	if sockets := interpreter.Sockets(); posture.Namespaces && len(sockets) > 0 {
		return &sandbox.Refusal{
			Reason: fmt.Sprintf("python %s: programs could connect to %s", interpreter.Executable, sockets[0]),
			Hint:   "remove it, or set MCP_EXEC_PYTHON to an interpreter without sockets and pipes among its modules",
		}
	}
	if path := interpreter.Unreachable(posture.Namespaces); path != "" && posture.OwnUID {
		return &sandbox.Refusal{
			Reason: fmt.Sprintf("python %s: programs run with an uid of their own, which can't read %s", interpreter.Executable, path),
			Hint:   "set MCP_EXEC_PYTHON to one that everybody can read; deploy/python/setup finds or makes it and prints its path",
		}
	}
	return nil
}

func (p *Pool) readList() sandbox.ReadList {
	return sandbox.ReadList{Dirs: p.interpreter.Dirs, Files: p.interpreter.Files}
}

// roomy: a run need not wait until the one before it is cleared away, because it
// shares no file, process or memory limit with it.
func (p *Pool) roomy() bool {
	t, ok := p.meter.(*tree)
	return p.posture.Namespaces && ok && t.group == nil
}

// slots of each level: so many run, and one is ready.
func (p *Pool) slots() int { return int(p.width) + 1 }

func (p *Pool) begin() error {
	p.base, p.data = newLevel(p, "base"), newLevel(p, "data")
	p.base.start, p.base.renewal = p.startBase, true
	p.data.start = p.startData
	p.meter = p.newMeter()
	p.base.want()
	if _, err := p.base.forkServer(p.ctx); err != nil { // so that the budget knows what it takes
		return err
	}
	if err := p.sweepOld(p.ctx); err != nil {
		return err
	}
	if err := p.budget(); err != nil {
		return err
	}
	if err := p.openSlots(); err != nil {
		return err
	}
	if err := p.selfTest(); err != nil {
		return err
	}
	for _, protection := range protections {
		if gap := protection.gap(p.facts()); gap != "" {
			p.log.Warn("not kept: "+protection.name, "reason", gap)
		}
	}
	p.log.Info("sandbox ready", "posture", p.posture.Name, "level", p.posture.Level(),
		"memory_bytes", p.environment.Limits.MemoryBytes, "processes", p.environment.Limits.Processes)
	go p.restIdle()
	return nil
}

// openSlots fills the first one before it returns, so that what this host forbids is
// known at once; where a run is measured with all that is beside it, the next ones too.
func (p *Pool) openSlots() error {
	var all []*slot
	for n := range 2 * p.slots() {
		l := p.base
		if n >= p.slots() {
			l = p.data
		}
		all = append(all, &slot{number: n, pool: p, level: l, returned: make(chan func(), 1)})
	}
	first := 1
	if _, ok := p.meter.(*cgroup); ok {
		first = p.slots()
	}
	for n, s := range all[:first] {
		if err := s.fill(p.ctx); err != nil {
			for _, filled := range all[:n+1] {
				filled.drop()
			}
			return err
		}
	}
	p.measureIdle()
	for _, s := range all {
		p.keeping.Go(func() { s.keep(p.ctx) })
	}
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
	for turns, tries := 0, 0; tries < maxTries && turns < maxTurns; turns++ {
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
		l.stop()
		l.mu.Unlock()
	}
	p.tenants.ending.Wait()
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
