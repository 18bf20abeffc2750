package pool

import (
	"bytes"
	"os"
	"path/filepath"
)

// Anonymous shared memory that no process maps any more, but for one page of it, is
// in no count of a process; it is in the host's only. So the host's growth is looked
// at, and runs that hold such a mapping answer for it.

// hidden is how a watch looks at it; nil where a control group counts it.
type hidden struct {
	before  int64 // of the whole host, bytes
	allowed int64 // growth that all runs together may cause by what is counted
}

func (p *Pool) newHidden() *hidden {
	if t, ok := p.meter.(*tree); !ok || t.group != nil {
		return nil
	}
	limits := p.environment.Limits
	return &hidden{before: sharedOfHost(), allowed: p.width * (limits.MemoryBytes + 2*limits.WorkspaceBytes)}
}

// exceeds asks for the mappings only when the host's memory has grown so far.
func (h *hidden) exceeds(reaper int) bool {
	return h != nil && sharedOfHost()-h.before > h.allowed && holdsShared(reaper)
}

func sharedOfHost() int64 {
	text, _ := os.ReadFile("/proc/meminfo")
	return field(text, "Shmem:") << 10
}

// holdsShared reports whether a process below has such a mapping: the kernel shows
// it as this file, see mmap(2) on MAP_ANONYMOUS.
func holdsShared(reaper int) bool {
	for _, pid := range descendants(reaper) {
		for _, task := range tasks(pid) {
			text, err := os.ReadFile(filepath.Join(task, "maps"))
			if err == nil && (bytes.Contains(text, []byte(" /dev/zero (deleted)")) || bytes.Contains(text, []byte(" [anon_shmem:"))) {
				return true
			}
		}
	}
	return false
}
