//go:build !linux

package main

import "github.com/mcp-exec/mcp-exec/internal/sandbox"

// notHere refuses whatever was asked for: the sandbox is made of Linux.
func notHere() error {
	return &sandbox.Refusal{Reason: "mcp-exec needs Linux", Hint: sandbox.DockerLine}
}

func (serve) Run() error       { return notHere() }
func (run) Run() error         { return notHere() }
func (healthcheck) Run() error { return notHere() }

func becomeInit() {}
