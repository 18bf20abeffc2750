package mcpserver

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

var update = flag.Bool("update", false, "rewrite the snapshots in testdata")

// golden compares got with a snapshot.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got), -update rewrites it:\n%s", path, diff)
	}
}

func testEnvironment() sandbox.Environment {
	return sandbox.Environment{
		Python: "3.13.5",
		Modules: []sandbox.Module{
			{Name: "PyYAML", Version: "6.0.2"}, {Name: "Jinja2", Version: "3.1.6"}, {Name: "Pillow", Version: "11.1.0"},
			{Name: "numpy", Version: "2.2.4"}, {Name: "pandas", Version: "2.2.3"}, {Name: "matplotlib", Version: "3.10.1"},
		},
		Posture: "landlock",
		Limits: sandbox.Limits{
			DefaultTimeout: 30 * time.Second, MaxTimeout: 300 * time.Second,
			OutputBytes: 1 << 20, StdinBytes: 1 << 20, CodeBytes: 1 << 20,
			MemoryBytes: 256 << 20, Processes: 64, WorkspaceBytes: 64 << 20,
		},
	}
}

// fakeRunner stands in for the pool.
type fakeRunner struct {
	env      sandbox.Environment
	run      func(context.Context, sandbox.Request) (sandbox.Result, error)
	prepared atomic.Int32
	runs     atomic.Int32
}

func newFake(run func(context.Context, sandbox.Request) (sandbox.Result, error)) *fakeRunner {
	return &fakeRunner{env: testEnvironment(), run: run}
}

// echo answers with what it was asked.
func echo() *fakeRunner {
	return newFake(func(_ context.Context, req sandbox.Request) (sandbox.Result, error) {
		return sandbox.Result{Stdout: req.Code, Stderr: req.Stdin, Duration: req.Timeout}, nil
	})
}

// sleeper runs until it is cancelled, telling started and ended.
func sleeper(started, ended chan<- struct{}) *fakeRunner {
	return newFake(func(ctx context.Context, _ sandbox.Request) (sandbox.Result, error) {
		started <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return sandbox.Result{Stdout: "late"}, nil
	})
}

func (f *fakeRunner) Run(ctx context.Context, req sandbox.Request) (sandbox.Result, error) {
	f.runs.Add(1)
	return f.run(ctx, req)
}

func (f *fakeRunner) Environment() sandbox.Environment { return f.env }

func (f *fakeRunner) Prepare() { f.prepared.Add(1) }
