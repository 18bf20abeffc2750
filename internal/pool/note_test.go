package pool

import (
	"testing"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func TestNote(t *testing.T) {
	env := sandbox.Environment{
		Modules: []sandbox.Module{{Name: "numpy", Version: "2.2"}, {Name: "Pillow", Version: "11"}},
		Limits:  sandbox.Limits{MemoryBytes: 256 << 20, Processes: 64, WorkspaceBytes: 64 << 20},
	}
	tests := []struct {
		name string
		end  ending
		want string
	}{
		{"all is well", ending{total: 3, kept: 3}, ""},
		{"nothing printed", ending{}, "no_output: nothing was printed; use print() to see a value"},
		{"nothing printed, but failed", ending{status: 1}, ""},
		{"killed for memory", ending{cause: causeMemory, status: 137, signal: 9}, "memory_limit: killed at 256 MiB"},
		{"MemoryError", ending{status: 1, reason: forkserver.NoMemory}, "memory_limit: an allocation failed; the limit is 256 MiB"},
		{"killed for processes", ending{cause: causeProcesses, status: 137, signal: 9}, "process_limit: killed at 64 processes"},
		{"EAGAIN", ending{status: 1, reason: forkserver.NoProcess}, "process_limit: no more than 64 processes and threads"},
		{"processor time", ending{cause: causeCPU, status: 137, signal: 9}, "cpu_limit: killed after more processor time than its timeout"},
		{"no space", ending{status: 1, reason: forkserver.DiskFull}, "disk_full: files may take 64 MiB in all"},
		{"no network", ending{status: 1, reason: forkserver.NoNetwork}, "no_network: programs have no network; pass data in code or stdin"},
		{"no module", ending{status: 1, reason: forkserver.NoModule},
			"missing_module: a module is not installed; besides the standard library there is numpy, Pillow"},
		{"own signal", ending{status: 139, signal: 11}, "killed_signal: ended by signal 11 (SIGSEGV)"},
		{"cut", ending{cut: true, kept: 1048576, total: 9437184}, "output_cut: kept 1,048,576 of 9,437,184 bytes"},
		{"timeout with nothing printed", ending{cause: causeTimeout, status: 137, signal: 9}, ""},
		{"timeout of a flood", ending{cause: causeTimeout, cut: true, kept: 10, total: 999}, "output_cut: kept 10 of 999 bytes"},
		{"exception before cut", ending{status: 1, reason: forkserver.NoMemory, cut: true, kept: 1, total: 2},
			"memory_limit: an allocation failed; the limit is 256 MiB"},
		{"signal before exception", ending{status: 134, signal: 6, reason: forkserver.NoMemory}, "killed_signal: ended by signal 6 (SIGABRT)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.end.note(env); got != tt.want {
				t.Errorf("note(%+v) = %q, want %q", tt.end, got, tt.want)
			}
		})
	}
}

func TestWantsData(t *testing.T) {
	tests := []struct {
		code string
		want bool
	}{
		{"import numpy as np", true},
		{"x = 1\n    from pandas import DataFrame", true},
		{"import os, matplotlib.pyplot", true},
		{"import sys; import yaml", true},
		{"from PIL import Image", true},
		{"importlib.import_module('pandas')", true},
		{"import numpyro", false},
		{"import json", false},
		{"", false},
	}
	for _, tt := range tests {
		if got := wantsData(tt.code); got != tt.want {
			t.Errorf("wantsData(%q) = %t, want %t", tt.code, got, tt.want)
		}
	}
}
