//go:build linux

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Whatever a program exhausts, it ends with the note that says so, the server
// lives, and the next program has everything again.
func TestLimits(t *testing.T) {
	s := start(t)
	for _, p := range specimens(t, "limits") {
		t.Run(p.name, func(t *testing.T) { p.run(t, s.in(t)) })
	}
	s.unharmed(t)
}

// The server answers while every process that a run may have burns a processor.
func TestAnswersWhileProcessesSpin(t *testing.T) {
	s := start(t)
	answered := s.background(args{"code": fmt.Sprintf("import os\nfor _ in range(%d):\n    if os.fork() == 0: break\nwhile True: pass", s.maxProcesses(t)-1), "timeout_s": 3})
	time.Sleep(time.Second) // they have been started
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		if err := s.session.Ping(ctx, nil); err != nil {
			t.Errorf("ping: %v", err)
		}
		cancel()
	}
	select {
	case got := <-answered:
		t.Errorf("the run ended before the pings: %s", got)
	default:
	}
	t.Log(<-answered)
	s.answers(t)
	s.noProcessLeft(t)
}

// maxProcesses is the limit in force, which a container may lower.
func (s *server) maxProcesses(t testing.TB) int {
	t.Helper()
	eventually(t, "the log names the limits", func() bool { return strings.Contains(s.log.String(), " processes=") })
	found := regexp.MustCompile(` processes=(\d+)`).FindStringSubmatch(s.log.String())
	if found == nil {
		t.Fatalf("the log names no limit of processes:\n%s", s.log)
	}
	var n int
	fmt.Sscan(found[1], &n)
	return n
}
