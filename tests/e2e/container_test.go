//go:build linux

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// lockedDown are the options of docker run without which the posture container, which
// has no Landlock, is not taken.
var lockedDown = []string{"--cap-drop ALL", "--read-only"}

// isLockedDown reports whether the line under test has them.
func isLockedDown() bool {
	line := os.Getenv(commandEnv)
	return !slices.ContainsFunc(lockedDown, func(option string) bool { return !strings.Contains(line, option) })
}

// TestContainerPosture: it is taken where it is asked for, in a container that keeps
// what it can't, and keeps its own promises: a run ends whole, and leaves nothing.
func TestContainerPosture(t *testing.T) {
	onHost(t, "-e", isolationEnv+"=container")
	if !isLockedDown() {
		refuses(t, "container: without Landlock it needs an empty bounding set", "--cap-drop ALL")
		return
	}
	s := start(t, canaries...)
	if p := s.place(t); p.posture != "container" || p.abi != 0 {
		t.Fatalf("%+v, want the posture container", p)
	}
	for _, path := range attacks(t) {
		t.Run(attackName(path), func(t *testing.T) { testAttack(t, s.in(t), path) })
	}
	for _, dir := range []string{"leftovers", "mechanism", "plants", "newcomers"} {
		for _, p := range specimens(t, dir) {
			t.Run(dir+" "+p.name, func(t *testing.T) { p.run(t, s.in(t)) })
		}
	}
}

// TestContainerPostureRunsOne: its runs would see each other.
func TestContainerPostureRunsOne(t *testing.T) {
	onHost(t, "-e", isolationEnv+"=container", "-e", "MCP_EXEC_CONCURRENCY=2")
	if isLockedDown() {
		refusesWith(t, 2, "MCP_EXEC_CONCURRENCY", "posture container runs one program at a time")
	}
}

// TestNeitherPosture: with Landlock gone too, auto takes nothing less, and names what
// stands in the way of each.
func TestNeitherPosture(t *testing.T) {
	onHost(t, healthy(t)...)
	onHost(t, "-e", maskEnv+"=-1")
	refuses(t, "namespaces: start init in new namespaces: operation not permitted", "landlock: masked", "seccomp profile")
}
