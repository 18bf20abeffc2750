package pool

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
)

// level is a set of warm modules: its fork server, and the slots that hold
// workers made from it.
type level struct {
	name    string
	pool    *Pool
	ready   chan *slot // unbuffered: who has received a slot owns it until it is returned
	start   func(context.Context) (*forkserver.Process, int64, error)
	renewal bool // when this fork server ends everything is started anew

	mu     sync.Mutex // protects what follows; held while a fork server starts
	server *forkserver.Process
	data   int64 // VmData that its workers inherit, bytes

	state    sync.Mutex // protects what follows
	wanted   chan struct{}
	isWanted bool
	lastErr  error // why no slot can be filled at present
	runs     int
	lastUse  time.Time
}

func newLevel(p *Pool, name string) *level {
	return &level{name: name, pool: p, ready: make(chan *slot), wanted: make(chan struct{})}
}

// want makes the level start, if it has not.
func (l *level) want() {
	l.state.Lock()
	defer l.state.Unlock()
	l.lastUse = time.Now()
	if !l.isWanted {
		l.isWanted = true
		close(l.wanted)
	}
}

// await returns when the level is wanted.
func (l *level) await(ctx context.Context) error {
	l.state.Lock()
	wanted := l.wanted
	l.state.Unlock()
	select {
	case <-wanted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// forkServer is the running fork server; it is started where there is none.
func (l *level) forkServer(ctx context.Context) (*forkserver.Process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server != nil {
		return l.server, nil
	}
	begin := time.Now()
	server, data, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	l.server, l.data = server, data
	l.pool.protect(server.PID)
	server.Watch()
	go l.watch(ctx, server)
	l.pool.log.Info("fork server ready", "level", l.name, "pid", server.PID, "ms", time.Since(begin).Milliseconds())
	return server, nil
}

// watch reads what the fork server says until it is gone.
func (l *level) watch(ctx context.Context, server *forkserver.Process) {
	for event := range server.Events {
		if event.Kind == "failed" {
			l.pool.log.Warn("fork server", "level", l.name, "step", event.Step, "err", event.Error)
		}
	}
	if !l.forget(server) || ctx.Err() != nil {
		return // it was told to
	}
	l.pool.log.Warn("fork server ended", "level", l.name, "pid", server.PID)
	if l.renewal {
		l.pool.renew("fork server ended")
	}
}

// unfit: what can't fork is of no use. In namespaces its end would be that of the runs
// under way, so that another one only takes its place; else its watch starts another.
func (l *level) unfit(server *forkserver.Process) {
	if l.pool.posture.Namespaces {
		l.forget(server)
		return
	}
	go server.Close()
}

// forget reports whether the fork server was still the present one.
func (l *level) forget(server *forkserver.Process) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server != server {
		return false
	}
	l.stop()
	return true
}

// stop needs mu.
func (l *level) stop() {
	if l.server != nil {
		l.pool.unprotect(l.server.PID)
		l.pool.tenants.retire(l.server)
		l.server = nil
	}
}

// reset stops the fork server and all that was made from it.
func (l *level) reset() {
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	l.discard()
}

// discard gives back every ready worker, so that it is made anew.
func (l *level) discard() {
	for {
		select {
		case s := <-l.ready:
			s.returned <- func() {}
		default:
			return
		}
	}
}

// rest stops a level that nobody has used for a while, until it is wanted again.
func (l *level) rest(idle time.Duration) {
	l.state.Lock()
	resting := l.isWanted && time.Since(l.lastUse) > idle
	if resting {
		l.isWanted, l.wanted = false, make(chan struct{})
	}
	l.state.Unlock()
	if !resting {
		return
	}
	l.pool.log.Info("fork server stopped: idle", "level", l.name)
	l.reset()
}

func (l *level) resting() bool {
	l.state.Lock()
	defer l.state.Unlock()
	return !l.isWanted
}

func (l *level) inherited() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.data
}

func (l *level) failed(err error) {
	l.state.Lock()
	defer l.state.Unlock()
	l.lastErr = err
}

func (l *level) working() { l.failed(nil) }

func (l *level) failure() error {
	l.state.Lock()
	defer l.state.Unlock()
	return l.lastErr
}

// count has the fork servers replaced after many runs.
func (l *level) count() {
	l.state.Lock()
	l.runs++
	worn := l.runs >= renewAfter
	if worn {
		l.runs = 0
	}
	l.state.Unlock()
	if worn {
		go l.pool.replace()
	}
}
