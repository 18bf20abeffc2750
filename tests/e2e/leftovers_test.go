//go:build linux

package e2e

import "testing"

// The answer comes when the main program ends, and nothing that it left behind
// lives on. Each program would keep a server that waits for it for ten minutes.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, p := range specimens(t, "leftovers") {
		t.Run(p.name, func(t *testing.T) { p.run(t, s.in(t)) })
	}
	s.unharmed(t)
}

// Programs that turn against the mechanism which runs them hurt themselves only.
func TestMechanism(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, p := range specimens(t, "mechanism") {
		t.Run(p.name, func(t *testing.T) { p.run(t, s.in(t)) })
	}
	s.unharmed(t)
}
