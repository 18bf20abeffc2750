//go:build linux

package e2e

import "testing"

func TestHello(t *testing.T) {
	s := start(t)
	got := s.run("print(6 * 7)")
	got.DurationMS = 0
	if want := (result{Stdout: "42\n"}); got != want {
		t.Errorf("exec = %+v, want %+v", got, want)
	}
}
