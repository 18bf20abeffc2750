package pool

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// spareSockets are not counted: what an ordinary program has is nearly empty.
const spareSockets = 128

// usage is what a run takes of the two things that no rlimit bounds per run.
type usage struct {
	memory    int64 // bytes, without the server's own
	total     int64 // bytes, with it
	processes int   // and threads
}

// meter measures usage. pid is the reaper under which the run lives.
type meter interface {
	measure(pid int) (usage, error)
	// kills counts what the kernel's OOM killer has ended, since the container began.
	kills() int64
	// ceiling is what all together must stay below, or 0.
	ceiling() int64
}

// cgroup is the control group of the container that the server lives in, v1 or
// v2. What it counts includes the server, so an idle measurement is subtracted.
type cgroup struct {
	memoryDir, pidsDir     string
	current, limit, events string // names of files in memoryDir
	inactive               string // prefix of the keys of memory.stat that count file cache
	memoryLimit, pidsLimit int64
}

// findCgroup returns nil where this process is in no limited group of its own.
func findCgroup() *cgroup {
	v2 := &cgroup{memoryDir: "/sys/fs/cgroup", pidsDir: "/sys/fs/cgroup",
		current: "memory.current", limit: "memory.max", events: "memory.events"}
	v1 := &cgroup{memoryDir: "/sys/fs/cgroup/memory", pidsDir: "/sys/fs/cgroup/pids", inactive: "total_",
		current: "memory.usage_in_bytes", limit: "memory.limit_in_bytes", events: "memory.oom_control"}
	for _, c := range []*cgroup{v2, v1} {
		if _, err := readInt(filepath.Join(c.memoryDir, c.current)); err != nil {
			continue
		}
		c.memoryLimit = readLimit(filepath.Join(c.memoryDir, c.limit))
		c.pidsLimit = readLimit(filepath.Join(c.pidsDir, "pids.max"))
		return c
	}
	return nil
}

func (c *cgroup) measure(int) (usage, error) {
	memory, err := readInt(filepath.Join(c.memoryDir, c.current))
	if err != nil {
		return usage{}, err
	}
	processes, err := readInt(filepath.Join(c.pidsDir, "pids.current"))
	if err != nil {
		return usage{}, err
	}
	total := memory - c.fileCache()
	return usage{memory: total - ownMemory(), total: total, processes: int(processes)}, nil
}

func (c *cgroup) ceiling() int64 { return max(0, c.memoryLimit-reserve/2) }

// ownMemory is what this process has dirtied: a large request makes it grow, which
// is not the run's doing. See statm in proc_pid_statm(5).
func ownMemory() int64 {
	var size, resident, shared int64
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		return 0
	}
	return (resident - shared) * int64(os.Getpagesize())
}

// fileCache is what the kernel can take back at once: pages of files (not of
// tmpfs, which are counted with anonymous memory) and, where v2 tells it, names
// of files that were looked up.
func (c *cgroup) fileCache() int64 {
	text, err := os.ReadFile(filepath.Join(c.memoryDir, "memory.stat"))
	if err != nil {
		return 0
	}
	return field(text, c.inactive+"inactive_file") + field(text, c.inactive+"active_file") + field(text, "slab_reclaimable")
}

func (c *cgroup) kills() int64 {
	text, err := os.ReadFile(filepath.Join(c.memoryDir, c.events))
	if err != nil {
		return 0
	}
	return field(text, "oom_kill")
}

// tree measures a run where there is no such group: what its processes have
// dirtied of their own, and what lies in the tmpfs mounts that are the run's.
type tree struct {
	mounts  []string
	private bool    // they are in the reaper's mount namespace, not in ours
	network bool    // it has a network namespace too, so that its sockets can be counted
	group   *cgroup // of the container, around all runs; or nil
}

func (t *tree) kills() int64 {
	if t.group == nil {
		return 0
	}
	return t.group.kills()
}

func (t *tree) ceiling() int64 {
	if t.group == nil {
		return 0
	}
	return t.group.ceiling()
}

// measure counts below a reaper; reaper 0 is an empty slot.
func (t *tree) measure(reaper int) (usage, error) {
	var u usage
	if reaper == 0 {
		return u, nil
	}
	if t.group != nil {
		all, err := t.group.measure(0)
		if err != nil {
			return u, err
		}
		u.total = all.total
	}
	for _, pid := range descendants(reaper) {
		u.memory += dirty(pid) + pageTables(pid)
		u.processes += len(tasks(pid))
	}
	if t.network {
		u.memory += max(0, sockets(reaper)-spareSockets) * sandbox.SocketBytes
	}
	for _, mount := range t.mounts {
		if t.private {
			mount = fmt.Sprintf("/proc/%d/root%s", reaper, mount)
		}
		var fs unix.Statfs_t
		if err := unix.Statfs(mount, &fs); err != nil {
			return u, fmt.Errorf("statfs %s: %w", mount, err)
		}
		u.memory += int64(fs.Blocks-fs.Bfree) * fs.Bsize
	}
	return u, nil
}

// descendants lists all processes below pid. One that ends meanwhile is missed,
// and so is what it used.
func descendants(pid int) []int {
	var found []int
	todo := []int{pid}
	for len(todo) > 0 {
		parent := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, task := range tasks(parent) { // each lists only what it forked itself
			text, _ := os.ReadFile(filepath.Join(task, "children"))
			for _, child := range strings.Fields(string(text)) {
				if n, err := strconv.Atoi(child); err == nil {
					found, todo = append(found, n), append(todo, n)
				}
			}
		}
	}
	return found
}

// tasks are the directories of a process's threads.
func tasks(pid int) []string {
	found, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
	return found
}

// dirty is a process's share of the pages that no file backs: its own, and a part
// of those that it shares by fork. Before Linux 6.0 the clean ones
// of these count too. Any
// thread is asked: the first one may be dead while others run.
func dirty(pid int) int64 {
	for _, task := range tasks(pid) {
		if text, err := os.ReadFile(filepath.Join(task, "smaps_rollup")); err == nil && len(text) > 0 {
			shared := field(text, "Pss_Anon:") + field(text, "Pss_Shmem:")
			return max(field(text, "Pss_Dirty:"), shared, field(text, "Private_Dirty:")) << 10
		}
	}
	return 0
}

// pageTables is what the kernel needs for a process's mappings, however little is in
// them: a page for every 2 MiB that were looked at.
func pageTables(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return field(text, "VmPTE:") << 10
}

// sockets counts those of the process's network namespace, whoever holds them.
func sockets(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/sockstat", pid))
	rest, _ := bytes.CutPrefix(text, []byte("sockets: used "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseInt(string(line), 10, 64)
	return n
}

// field is the number that follows a key at the start of a line, or 0.
func field(text []byte, key string) int64 {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 1 && fields[0] == key {
			n, _ := strconv.ParseInt(fields[1], 10, 64)
			return n
		}
	}
	return 0
}

func readInt(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// readLimit is 0 where there is none: "max", or v1's number near 2^63.
func readLimit(path string) int64 {
	n, err := readInt(path)
	if err != nil || n >= 1<<60 {
		return 0
	}
	return n
}
