//go:build !linux

package main

// Run refuses: the sandbox is made of Linux.
func (doctor) Run() error { return notHere() }
