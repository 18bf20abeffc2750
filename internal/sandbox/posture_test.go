package sandbox

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What typical hosts give.
var (
	bareRoot = Support{LandlockABI: 7, Root: true, Mount: true, Bounding: 41, UIDs: 1<<31 - 1, Nonce: 300,
		ContainerErr: "the pid namespace is the host's"}
	bareUser   = Support{LandlockABI: 7, ContainerErr: "the pid namespace is the host's", Writable: []string{"/dev/shm"}}
	container  = Support{LandlockABI: 7, Container: true, Writable: []string{"/tmp", "/dev/shm"}, UIDs: 1<<31 - 1}
	dockerRoot = Support{LandlockABI: 7, Container: true, Root: true, Bounding: 41, UIDs: 1<<31 - 1, Nonce: 1,
		Writable: []string{"/dev/shm"}}
)

func but(s Support, change func(*Support)) Support {
	change(&s)
	return s
}

func TestChoose(t *testing.T) {
	tests := []struct {
		name string
		have Support
		want Posture
	}{
		{"root on a bare host", bareRoot, Posture{Name: "landlock", ABI: 7, SignalScope: true, OwnUID: true,
			FirstUID: 0x70000000 + 300*16, OwnMounts: true, Bounding: 41, Temp: "/tmp", Writable: []string{"/tmp", "/dev/shm"}}},
		{"published docker line", container, Posture{Name: "landlock", ABI: 7, SignalScope: true, FirstUID: 0x70000000,
			Temp: "/tmp", Writable: []string{"/tmp", "/dev/shm"}}},
		{"root in a container", dockerRoot, Posture{Name: "landlock", ABI: 7, SignalScope: true, OwnUID: true,
			FirstUID: 0x70000000 + 16, Bounding: 41, Temp: "/dev/shm", Writable: []string{"/dev/shm"}}},
		{"Ubuntu 24.04 in a container", but(container, func(s *Support) { s.LandlockABI = 4 }), Posture{Name: "landlock",
			ABI: 4, FirstUID: 0x70000000, Temp: "/tmp", Writable: []string{"/tmp", "/dev/shm"}}},
		{"user namespace of 65,536 ids", but(dockerRoot, func(s *Support) { s.UIDs = 65536 }), Posture{Name: "landlock",
			ABI: 7, SignalScope: true, OwnUID: true, FirstUID: 61184, Bounding: 41, Temp: "/dev/shm", Writable: []string{"/dev/shm"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, isolation := range []string{"auto", "landlock"} {
				got, err := Choose(isolation, tt.have)
				if err != nil {
					t.Fatalf("Choose(%q) error: %v", isolation, err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("Choose(%q) (-want +got):\n%s", isolation, diff)
				}
			}
		})
	}
}

func TestChooseRefuses(t *testing.T) {
	tests := []struct {
		name   string
		have   Support
		reason string
		hint   string
	}{
		{"no Landlock", but(container, func(s *Support) { s.LandlockABI, s.LandlockErr = 0, "operation not permitted" }),
			"operation not permitted", "Linux 5.13"},
		{"user on a bare host", bareUser, "bare host", "docker run"},
		{"root without a capability", but(dockerRoot, func(s *Support) { s.MissingCaps = []string{"CAP_KILL"} }), "CAP_KILL", "--user 65532:65532"},
		{"root that can't mount", but(bareRoot, func(s *Support) { s.Mount = false }), "bare host", "docker run"},
		{"no tmpfs", but(container, func(s *Support) { s.Writable = nil }), "tmpfs", "--tmpfs /tmp"},
		{"one mapped id", but(dockerRoot, func(s *Support) { s.UIDs = 1 }), "too few ids", "--user 65532:65532"},
		{"a foreign process in the container", but(container, func(s *Support) {
			s.Container, s.ContainerErr = false, "process 9 in this container is not ours"
		}), "process 9", "docker run"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Choose("auto", tt.have)
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("Choose = %+v, %v, want a refusal", got, err)
			}
			if !strings.Contains(refusal.Reason, tt.reason) || !strings.Contains(refusal.Hint, tt.hint) {
				t.Errorf("refusal = %q, hint %q, want them to hold %q and %q", refusal.Reason, refusal.Hint, tt.reason, tt.hint)
			}
		})
	}
}

func TestChooseUnknownIsolation(t *testing.T) {
	if _, err := Choose("strong", container); err == nil || !strings.Contains(err.Error(), `"strong"`) {
		t.Errorf("Choose(strong) error = %v, want one that names the value", err)
	}
}

// No uid of a program is root's, and no two servers on a host share one.
func TestFirstUID(t *testing.T) {
	seen := map[int]int{}
	for nonce := 0; nonce < 1<<22; nonce += 4099 {
		first := firstUID(1<<31-1, nonce)
		if first < 1<<30 || first+MaxSlots > 1<<31 {
			t.Fatalf("firstUID(all, %d) = %d, out of the range of ids", nonce, first)
		}
		if other, ok := seen[first]; ok {
			t.Fatalf("nonces %d and %d share uid %d", other, nonce, first)
		}
		seen[first] = nonce
	}
	if got := firstUID(1<<31-1, math.MaxInt); got+MaxSlots > 1<<31 {
		t.Errorf("firstUID(all, max) = %d, out of the range of ids", got)
	}
	if got := firstUID(1000, 5); got != 0 {
		t.Errorf("firstUID(1000 ids) = %d, want 0", got)
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
