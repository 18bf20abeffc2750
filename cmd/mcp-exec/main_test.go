package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

var update = flag.Bool("update", false, "rewrite the snapshots in testdata")

func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	for _, args := range [][]string{{"--help"}, {"run", "--help"}} {
		name := strings.Join(args, " ")
		t.Run(name, func(t *testing.T) {
			var help bytes.Buffer
			parser := newParser(&command{}, kong.Writers(&help, &help), kong.Exit(func(int) {}))
			_, _ = parser.Parse(args) // goes on where the command would have exited
			snapshot(t, filepath.Join("testdata", strings.ReplaceAll(name, " ", "")+".txt"), help.Bytes())
		})
	}
}

func snapshot(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), -update rewrites it:\n%s", path, diff)
	}
}

// Every variable that a flag reads is known: a setting that works is no typo.
func TestVariablesAreKnown(t *testing.T) {
	found := 0
	for _, command := range newParser(&command{}).Model.Children {
		for _, f := range command.Flags {
			for _, name := range f.Envs {
				found++
				if !slices.Contains(variables, name) {
					t.Errorf("%s --%s reads %s, which is in no list", command.Name, f.Name, name)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no flag reads a variable")
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"TIMEOUT": "MAX_TIMEOUT_S", "MAX_TIMOUT_S": "MAX_TIMEOUT_S", "DEFAULT_TIMEOUT": "DEFAULT_TIMEOUT_S",
		"PYHTON": "PYTHON", "CONCURENCY": "CONCURRENCY", "MAX_MEMORY": "MEMORY_BYTES", "MEMORY": "MEMORY_BYTES",
		"AUTH_TOKENS": "AUTH_TOKEN", "TOKEN": "AUTH_TOKEN", "MAX_PID": "MAX_PIDS",
	} {
		if got := nearest(prefix + name); got != prefix+want {
			t.Errorf("nearest(%s) = %s, want %s", name, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{exitStatus(143), 143},
		{errors.New("no sandbox"), exitFailed},
		{&sandbox.Refusal{Reason: "no sandbox", Hint: "get one"}, exitFailed},
		{usageError{errors.New("bad")}, exitUsage},
		{fmt.Errorf("start: %w", &sandbox.SettingError{Variable: "MCP_EXEC_CONCURRENCY", Value: "2", Want: "1"}), exitUsage},
	} {
		if got := report(tt.err); got != tt.want {
			t.Errorf("report(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}
