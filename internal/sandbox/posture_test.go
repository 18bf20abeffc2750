package sandbox

import (
	"errors"
	"strings"
	"testing"
)

func TestUID(t *testing.T) {
	root := Posture{OwnUID: true, FirstUID: 5000}
	if got := root.UID(0); got != 5001 {
		t.Errorf("first slot: uid %d, want 5001: 5000 is that of the fork servers", got)
	}
	if got := root.UID(MaxSlots - 1); got != 5000+uids-1 {
		t.Errorf("last slot: uid %d, want the last of the server's %d", got, uids)
	}
	if got := (Posture{FirstUID: 5000}).UID(3); got != -1 {
		t.Errorf("without uids of its own: %d, want -1", got)
	}
}

func TestLevel(t *testing.T) {
	for _, tt := range []struct {
		posture  Posture
		enclosed bool
		level    string
	}{
		{Posture{Name: "namespaces", Namespaces: true, ABI: 6}, true, "full (Landlock ABI 6 as a second line)"},
		{Posture{Name: "namespaces", Namespaces: true}, true, "without Landlock"},
		{Posture{Name: "landlock", ABI: 6, SignalScope: true}, true, "full (Landlock ABI 6)"},
		{Posture{Name: "landlock", ABI: 4}, false, "no signal scope (Landlock ABI 4)"},
		{Posture{Name: "container"}, false, "no Landlock"},
	} {
		if got := tt.posture.Level(); !strings.HasPrefix(got, tt.level) || tt.posture.Enclosed() != tt.enclosed {
			t.Errorf("%+v: level %q, enclosed %t, want %q, %t", tt.posture, got, tt.posture.Enclosed(), tt.level, tt.enclosed)
		}
	}
}

func TestStepErrorPublic(t *testing.T) {
	err := &StepError{Step: "mount tmpfs", Path: "/home/secret", Err: errors.New("operation not permitted")}
	if got, want := err.Public(), "sandbox fault at step mount tmpfs: operation not permitted"; got != want {
		t.Errorf("Public() = %q, want %q", got, want)
	}
	if got, want := err.Error(), "mount tmpfs /home/secret: operation not permitted"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
