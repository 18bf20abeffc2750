//go:build !linux

package main

import (
	"errors"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

type serve struct{ flags }

// Run refuses: the sandbox is made of Linux.
func (serve) Run() error {
	return &sandbox.Refusal{Reason: errors.New("mcp-exec needs Linux").Error(), Hint: sandbox.DockerLine}
}

func becameInit() bool { return false }
