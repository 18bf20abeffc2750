package pool

import (
	"fmt"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

const (
	dataFootprint = 100 << 20 // bytes that the level "data" with two ready workers takes
	reserve       = 24 << 20  // bytes kept free below a container's limit
	minMemory     = 32 << 20  // bytes that a run must have

	spareProcesses = 8 // kept free below a container's limit
	minProcesses   = 8 // that a run must have
)

// newMeter prefers the container's own control group, which misses nothing, where
// one run at a time is all that it counts.
func (p *Pool) newMeter() meter {
	group := findCgroup()
	if group != nil {
		if _, err := group.measure(0); err != nil {
			group = nil
		}
	}
	if p.posture.OwnMounts || p.posture.Namespaces { // one tmpfs under all names
		return &tree{mounts: p.posture.Writable[:1], private: true, network: p.posture.Namespaces, group: limited(group)}
	}
	if group != nil {
		return group
	}
	return &tree{mounts: p.posture.Writable}
}

// limited is nil for a group that bounds nothing: it may be the host's.
func limited(group *cgroup) *cgroup {
	if group == nil || group.memoryLimit == 0 && group.pidsLimit == 0 {
		return nil
	}
	return group
}

// budget lowers the limits to what the container leaves.
func (p *Pool) budget() error {
	p.measureIdle()
	group := limited(findCgroup())
	if group == nil {
		return nil
	}
	idle, err := group.measure(0)
	if err != nil {
		return &sandbox.StepError{Step: "memory budget", Err: err}
	}
	p.inUse = idle.total
	limits, withData, err := fit(p.environment.Limits, group, idle, p.width)
	if err != nil {
		return err
	}
	p.environment.Limits, p.dataless = limits, !withData
	if p.dataless {
		p.log.Warn("data libraries not preloaded: the container's memory is too small", "limit_bytes", group.memoryLimit)
	}
	return nil
}

// fit is what a container's limits leave of a run's, beside what is used while
// nothing runs and what the data libraries will take. Too little memory for
// those: they are not preloaded. Too little for a run: an error. A limit of 0 is none.
func fit(l sandbox.Limits, group *cgroup, idle usage, width int64) (fitted sandbox.Limits, withData bool, err error) {
	withData = true
	if group.memoryLimit > 0 {
		left := group.memoryLimit - idle.total - reserve
		if withData = (left-dataFootprint)/width >= minMemory; withData {
			left -= dataFootprint
		}
		left /= width
		if left < minMemory {
			return l, false, fmt.Errorf("memory: the container's limit of %d bytes leaves a run %d, less than %d: raise --memory",
				group.memoryLimit, max(left, 0), int64(minMemory))
		}
		l.MemoryBytes = min(l.MemoryBytes, left)
	}
	if group.pidsLimit > 0 {
		left := (int(group.pidsLimit) - idle.processes - ownProcesses(width) - spareProcesses) / int(width)
		if left < minProcesses {
			return l, false, fmt.Errorf("processes: the container's limit of %d leaves a run %d, less than %d: raise --pids-limit",
				group.pidsLimit, max(left, 0), minProcesses)
		}
		l.Processes = min(l.Processes, left)
	}
	return l, withData, nil
}

// measureIdle records what is used while nothing runs.
func (p *Pool) measureIdle() {
	now, err := p.meter.measure(0)
	if err != nil {
		p.log.Warn("usage not measured", "err", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active.Load() > 0 {
		return // a run has begun meanwhile
	}
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
	p.idle.processes += 2*p.slots() + 1
}

func (p *Pool) idleUsage() usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle
}

// ownProcesses are reapers, workers and "data", when all are there.
func ownProcesses(width int64) int { return 4*int(width+1) + 1 }

// EnoughProcesses refuses a container whose limit does not even leave the server
// its threads: it would die of it.
func EnoughProcesses(threads int) error {
	group := findCgroup()
	need := int64(threads + 2*ownProcesses(1) + spareProcesses + minProcesses)
	if group == nil || group.pidsLimit == 0 || group.pidsLimit >= need {
		return nil
	}
	return fmt.Errorf("processes: the container's limit is %d, the server and a run need %d: raise --pids-limit", group.pidsLimit, need)
}
