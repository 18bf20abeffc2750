package pool

import (
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// How often a run is looked at. A look that is costly is taken less often, so that
// it takes a twentieth of one processor, but never much later than a second.
const (
	minPeriod = 20 * time.Millisecond
	maxPeriod = time.Second
)

// watch bounds what no rlimit bounds per run: memory and processes in all.
type watch struct {
	meter     meter
	reaper    int
	memory    int64 // kill above, as the meter counts
	total     int64 // likewise with the server's own, or 0
	processes int
	kills     int64 // OOM kills before the run
	hidden    *hidden
	ticker    *time.Ticker
}

// newWatch allows a run its limits above what is used while nothing runs.
func (p *Pool) newWatch(reaper int) *watch {
	idle := p.idleUsage()
	limits := p.environment.Limits
	return &watch{
		meter: p.meter, reaper: reaper,
		memory:    idle.memory + limits.MemoryBytes*9/10,
		total:     p.meter.ceiling(),
		processes: idle.processes + limits.Processes,
		kills:     p.meter.kills(),
		hidden:    p.newHidden(),
		ticker:    time.NewTicker(minPeriod),
	}
}

func (w *watch) tick() <-chan time.Time { return w.ticker.C }

func (w *watch) stop() { w.ticker.Stop() }

// check says which limit is exceeded. An error is a watchdog that can't see: the
// run must not go on without it.
func (w *watch) check() (cause, error) {
	begin := time.Now()
	now, err := w.meter.measure(w.reaper)
	w.ticker.Reset(min(maxPeriod, max(minPeriod, 20*time.Since(begin))))
	switch {
	case err != nil:
		return causeNone, &sandbox.StepError{Step: "watchdog", Err: err}
	case now.memory > w.memory, w.total > 0 && now.total > w.total:
		return causeMemory, nil
	case w.hidden.exceeds(w.reaper):
		return causeMemory, nil
	case now.processes > w.processes:
		return causeProcesses, nil
	}
	return causeNone, nil
}

// outOfMemory reports whether the kernel's OOM killer struck during the run.
func (w *watch) outOfMemory() bool { return w.meter.kills() > w.kills }
