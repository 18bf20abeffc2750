package pool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

const mib = 1 << 20

func TestFit(t *testing.T) {
	want := sandbox.Limits{MemoryBytes: 256 * mib, Processes: 64}
	tests := []struct {
		name      string
		group     cgroup
		idle      usage
		width     int64
		memory    int64
		processes int
		data      bool
		err       string
	}{
		{"no limits", cgroup{}, usage{total: 30 * mib}, 1, 256 * mib, 64, true, ""},
		{"published line", cgroup{memoryLimit: 256 * mib, pidsLimit: 128}, usage{total: 30 * mib, processes: 44}, 1, 102 * mib, 64, true, ""},
		{"room for all", cgroup{memoryLimit: 1024 * mib, pidsLimit: 1000}, usage{total: 30 * mib}, 1, 256 * mib, 64, true, ""},
		{"too small for the data libraries", cgroup{memoryLimit: 160 * mib}, usage{total: 30 * mib}, 1, 106 * mib, 64, false, ""},
		{"too small for a run", cgroup{memoryLimit: 64 * mib}, usage{total: 30 * mib}, 1, 0, 0, false, "raise --memory"},
		{"few processes", cgroup{pidsLimit: 80}, usage{processes: 44}, 1, 256 * mib, 80 - 44 - 9 - 8, true, ""},
		{"too few processes", cgroup{pidsLimit: 64}, usage{processes: 44}, 1, 0, 0, false, "raise --pids-limit"},
		{"two at once", cgroup{memoryLimit: 256 * mib, pidsLimit: 128}, usage{total: 30 * mib, processes: 44}, 2, 51 * mib, (128 - 44 - 13 - 8) / 2, true, ""},
		{"room for four", cgroup{memoryLimit: 4096 * mib, pidsLimit: 1000}, usage{total: 30 * mib, processes: 44}, 4, 256 * mib, 64, true, ""},
		{"room for four without the data libraries", cgroup{memoryLimit: 256 * mib}, usage{total: 30 * mib}, 4, 202 * mib / 4, 64, false, ""},
		{"room for one, not for four", cgroup{memoryLimit: 160 * mib}, usage{total: 30 * mib}, 4, 0, 0, false, "raise --memory"},
		{"processes for one, not for four", cgroup{pidsLimit: 90}, usage{processes: 44}, 4, 0, 0, false, "raise --pids-limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, data, err := fit(want, &tt.group, tt.idle, tt.width)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error = %v, want one that says %q", err, tt.err)
				}
				return
			}
			if err != nil || got.MemoryBytes != tt.memory || got.Processes != tt.processes || data != tt.data {
				t.Errorf("fit = %d MiB, %d processes, data %t, %v; want %d MiB, %d, %t", got.MemoryBytes/mib,
					got.Processes, data, err, tt.memory/mib, tt.processes, tt.data)
			}
		})
	}
}

func TestCgroupFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"memory.current": "1000\n", "pids.current": "7\n", "memory.max": "max\n", "pids.max": "128\n",
		"memory.stat":   "anon 5\ninactive_file 300\nactive_file 200\nshmem 9\n",
		"memory.events": "low 0\noom 3\noom_kill 2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := cgroup{memoryDir: dir, pidsDir: dir, current: "memory.current", events: "memory.events"}
	got, err := c.measure(0)
	got.memory = 0 // what remains without this process, which is no part of that group
	if want := (usage{total: 500, processes: 7}); err != nil || got != want || c.kills() != 2 {
		t.Errorf("measure = %+v, %v, want %+v", got, err, want)
	}
	if got := readLimit(filepath.Join(dir, "memory.max")); got != 0 {
		t.Errorf("limit max = %d, want none", got)
	}
	if got := readLimit(filepath.Join(dir, "pids.max")); got != 128 {
		t.Errorf("limit 128 = %d", got)
	}
}

// A tree counts what is below a process, not the process itself.
func TestTree(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 60 & sleep 60 & wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	meter := &tree{}
	deadline := time.Now().Add(30 * time.Second)
	for {
		got, err := meter.measure(cmd.Process.Pid)
		if err == nil && got.processes == 2 && got.memory > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("measure = %+v, %v, want two processes with memory", got, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, pid := range descendants(cmd.Process.Pid) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}
