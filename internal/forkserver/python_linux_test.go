package forkserver

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The Python side has its own tests, in Python.
func TestPython(t *testing.T) {
	files, err := filepath.Glob("testdata/test_*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no Python tests found: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			cmd := exec.Command(cmp.Or(os.Getenv("MCP_EXEC_PYTHON"), "python3"), file)
			cmd.Env = append(os.Environ(), "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
