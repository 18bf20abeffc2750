//go:build !linux

package main

import (
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

type serve struct{ flags }

// Run refuses: the sandbox is made of Linux.
func (serve) Run() error {
	return &sandbox.Refusal{Reason: "mcp-exec needs Linux", Hint: sandbox.DockerLine}
}

func becomeInit() {}
