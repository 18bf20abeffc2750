package forkserver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A command that is no usable Python is named with what it did.
func TestInspectRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name, script string
		mode         os.FileMode
		want         string
	}{
		{"garbage", "echo hello", 0o755, "does not behave like one"},
		{"exits", "echo no way >&2; exit 3", 0o755, "exit status 3: no way"},
		{"killed", "kill -9 $$", 0o755, "signal: killed"},
		{"silent", "exit 0", 0o755, "does not behave like one"},
		{"closed", "exit 0", 0o644, "permission denied"},
		{"python2", `echo '{"Executable": "/usr/bin/python2", "Minor": 0, "Version": "2.7.18"}'`, 0o755, "python is 2.7.18: needs CPython 3.10 or later"},
		{"old", `echo '{"Executable": "/usr/bin/python3", "Minor": 9, "Version": "3.9.1"}'`, 0o755, "python is 3.9.1"},
		{"greedy", `echo '{"Executable": "/p", "Minor": 13, "Dirs": ["/"]}'`, 0o755, "make every file readable"},
		{"nowhere", `echo '{"Executable": "", "Minor": 13}'`, 0o755, "not an absolute path"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(dir, tt.name)
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+tt.script+"\n"), tt.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := Inspect(t.Context(), path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Inspect = %v, want %q", err, tt.want)
			}
		})
	}
}

// One that hangs is ended in time, with all that it started.
func TestInspectHangs(t *testing.T) {
	dir := t.TempDir()
	path, child := filepath.Join(dir, "hangs"), filepath.Join(dir, "child")
	script := "#!/bin/sh\nsleep 600 &\necho $! >" + child + "\nwait\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := Inspect(ctx, path); err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("Inspect = %v, want no answer in time", err)
	}
	text, err := os.ReadFile(child)
	if err != nil {
		t.Fatal(err)
	}
	if pid := strings.TrimSpace(string(text)); alive(pid) {
		t.Errorf("process %s is left", pid)
	}
}

// alive waits a moment for the kernel to end it; a dead one that nobody has
// waited for does not count.
func alive(pid string) bool {
	for range 100 {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(text), ") Z ") {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}
