//go:build linux

package e2e

import "testing"

// launch is start, and tells the posture and its Landlock ABI.
func launch(t testing.TB, env ...string) (s *server, posture string, abi int) {
	t.Helper()
	s = start(t, env...)
	p := s.place(t)
	return s, p.posture, p.abi
}

// inNamespaces is start for what only that posture has.
func inNamespaces(t testing.TB, env ...string) *server {
	t.Helper()
	requireNamespaces(t)
	return start(t, env...)
}

// requireNamespaces skips where another posture is under test.
func requireNamespaces(t testing.TB) {
	t.Helper()
	if wanted() != "namespaces" {
		t.Skipf("needs posture namespaces, not %s", wanted())
	}
}

// wide is a server that runs several programs at once.
func wide(t testing.TB, concurrency string) *server {
	t.Helper()
	return inNamespaces(t, "MCP_EXEC_CONCURRENCY="+concurrency)
}
