//go:build !linux

package main

import (
	"errors"
	"testing"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func TestNotHere(t *testing.T) {
	for _, args := range [][]string{nil, {"serve"}, {"run", "missing.py"}, {"healthcheck"}} {
		var refusal *sandbox.Refusal
		if err := execute(newParser(&command{}), args); !errors.As(err, &refusal) || refusal.Hint != sandbox.DockerLine {
			t.Errorf("mcp-exec %q = %v, want a refusal with the docker line", args, err)
		}
	}
	if err := execute(newParser(&command{}), []string{"version"}); err != nil {
		t.Errorf("mcp-exec version = %v", err)
	}
}
