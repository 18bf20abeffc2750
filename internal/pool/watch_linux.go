package pool

import "time"

// minPeriod is how often a run is looked at; a look that is costly is taken less
// often, so that it takes at most a twentieth of one processor.
const minPeriod = 20 * time.Millisecond

// watch bounds what no rlimit bounds per run: memory and processes in all.
type watch struct {
	meter     meter
	reaper    int
	memory    int64 // kill above, as the meter counts
	processes int
	kills     int64 // OOM kills before the run
	ticker    *time.Ticker
}

// newWatch allows a run its limits above what is used while nothing runs.
func (p *Pool) newWatch(reaper int) *watch {
	idle := p.idleUsage()
	limits := p.environment.Limits
	return &watch{
		meter: p.meter, reaper: reaper,
		memory:    idle.memory + limits.MemoryBytes*9/10,
		processes: idle.processes + limits.Processes,
		kills:     idle.kills,
		ticker:    time.NewTicker(minPeriod),
	}
}

func (w *watch) tick() <-chan time.Time { return w.ticker.C }

func (w *watch) stop() { w.ticker.Stop() }

func (w *watch) check() cause {
	begin := time.Now()
	now, err := w.meter.measure(w.reaper)
	w.ticker.Reset(max(minPeriod, 20*time.Since(begin)))
	switch {
	case err != nil:
		return causeNone
	case now.memory > w.memory:
		return causeMemory
	case now.processes > w.processes:
		return causeProcesses
	}
	return causeNone
}

// outOfMemory reports whether the kernel's OOM killer struck during the run.
func (w *watch) outOfMemory() bool {
	now, err := w.meter.measure(w.reaper)
	return err == nil && now.kills > w.kills
}
