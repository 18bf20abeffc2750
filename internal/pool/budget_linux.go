package pool

import (
	"fmt"
	"os"
)

const (
	dataFootprint = 100 << 20 // bytes that the level "data" with two ready workers takes
	reserve       = 24 << 20  // bytes kept free below a container's limit
	minMemory     = 32 << 20  // bytes that a run must have
	spareProcs    = 8         // processes kept free below a container's limit
	minProcs      = 8
)

// newMeter prefers the container's own control group, which misses nothing.
func (p *Pool) newMeter() meter {
	if group := findCgroup(); group != nil && !p.posture.OwnMounts {
		if _, err := group.measure(0); err == nil {
			return group
		}
	}
	return &tree{mounts: p.posture.Writable[:1], root: p.anyPID}
}

// anyPID is a process that sees the run's mounts.
func (p *Pool) anyPID() int {
	p.base.mu.Lock()
	defer p.base.mu.Unlock()
	if p.base.server != nil {
		return p.base.server.PID
	}
	return os.Getpid()
}

// budget lowers the limits to what the container leaves. Too little memory for
// the data libraries: they are not preloaded; too little for a run: an error.
func (p *Pool) budget() error {
	p.measureIdle()
	group, ok := p.meter.(*cgroup)
	if !ok {
		return nil
	}
	limits := &p.environment.Limits
	if group.memoryLimit > 0 {
		left := group.memoryLimit - p.idleUsage().memory - reserve
		if left-dataFootprint >= minMemory {
			left -= dataFootprint
		} else {
			p.log.Warn("data libraries not preloaded: the container's memory is too small", "limit_bytes", group.memoryLimit)
			p.environment.Limits.MemoryBytes = min(limits.MemoryBytes, left)
			p.dataless = true
		}
		if left < minMemory {
			return fmt.Errorf("memory: the container's limit of %d bytes leaves a run %d, less than %d: raise --memory",
				group.memoryLimit, left, minMemory)
		}
		limits.MemoryBytes = min(limits.MemoryBytes, left)
	}
	if group.pidsLimit > 0 {
		left := int(group.pidsLimit) - p.idleUsage().processes - 4*slots - spareProcs
		if left < minProcs {
			return fmt.Errorf("processes: the container's limit of %d leaves a run %d, less than %d: raise --pids-limit",
				group.pidsLimit, left, minProcs)
		}
		limits.Processes = min(limits.Processes, left)
	}
	return nil
}

func (p *Pool) noData() bool { return p.dataless }

// measureIdle records what is used while nothing runs.
func (p *Pool) measureIdle() {
	now, err := p.meter.measure(0)
	if err != nil {
		p.log.Warn("usage not measured", "err", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = now
	if p.loading {
		p.allowForData()
	}
}

// loadingData tells the watchdog that memory which a run does not use is being
// taken beside it.
func (p *Pool) loadingData(begins bool) {
	if _, ok := p.meter.(*cgroup); !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if begins && !p.loading {
		p.allowForData()
	}
	p.loading = begins
}

// allowForData needs mu.
func (p *Pool) allowForData() {
	p.idle.memory += dataFootprint
	p.idle.processes += 2*slots + 1
}

func (p *Pool) idleUsage() usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle
}
