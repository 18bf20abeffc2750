package sandbox

import (
	"testing"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

// The mask of the ABI takes rights out of the ruleset that is really made.
func TestHandledRights(t *testing.T) {
	tests := []struct {
		abi                           int
		refer, truncate, tcp, signals bool
	}{{1, false, false, false, false}, {2, true, false, false, false}, {3, true, true, false, false},
		{4, true, true, true, false}, {6, true, true, true, true}, {99, true, true, true, true}}
	for _, tt := range tests {
		c := handled(tt.abi)
		got := [4]bool{c.HandledAccessFS&ll.AccessFSRefer != 0, c.HandledAccessFS&ll.AccessFSTruncate != 0,
			c.HandledAccessNet != 0, c.Scoped&ll.ScopeSignal != 0}
		if want := [4]bool{tt.refer, tt.truncate, tt.tcp, tt.signals}; got != want {
			t.Errorf("handled(%d) = %v, want %v", tt.abi, got, want)
		}
	}
}

func TestWorkerRulesetIsMade(t *testing.T) {
	sandboxtest.Require(t, "landlock>=1")
	read := ReadList{Dirs: []string{"/usr"}, Files: []string{"/bin/sh"}}
	for abi := 1; abi <= Probe(0).LandlockABI; abi++ {
		fd, err := workerRuleset(abi, read, []string{t.TempDir()})
		if err != nil {
			t.Errorf("ABI %d: %v", abi, err)
			continue
		}
		unix.Close(fd)
	}
	if _, err := workerRuleset(1, ReadList{Dirs: []string{"/no/such/dir"}}, nil); err == nil {
		t.Error("a read list with a missing directory made a ruleset")
	}
}
