package sandbox

import (
	"errors"
	"math"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What typical hosts give.
var (
	bareRoot = Support{Kernel: "6.12.0-amd64", IPCLimits: true, LandlockABI: 6, Root: true, Mount: true, Capabilities: 41,
		Bounding: 41, BoundingSet: true, UIDs: math.MaxInt32, Nonce: 300, ContainerErr: "the pid namespace is the host's"}
	bareUser = but(bareRoot, func(s *Support) {
		s.Root, s.Mount, s.Bounding, s.Writable = false, false, 0, []string{"/dev/shm"}
	})
	dockerLine = Support{Kernel: "6.12.0-amd64", IPCLimits: true, LandlockABI: 6, Capabilities: 41, UIDs: math.MaxInt32,
		Container: true, ReadOnlyRoot: true, Writable: []string{"/tmp", "/dev/shm"}}
	dockerRoot = but(dockerLine, func(s *Support) {
		s.Root, s.Bounding, s.BoundingSet, s.ReadOnlyRoot, s.Nonce = true, 41, true, false, 1
		s.Writable = []string{"/dev/shm"}
	})
	ubuntuUser = but(bareUser, func(s *Support) {
		s.Kernel, s.IPCLimits, s.LandlockABI = "6.8.0-45-generic", false, 4
		s.UserNSErr, s.UserNSHint = "kernel.apparmor_restrict_unprivileged_userns is 1", "sudo apparmor_parser -r"
	})
)

func but(s Support, change func(*Support)) Support {
	change(&s)
	return s
}

// Postures that were built and did not work.
var (
	noUserNS  = Attempt{"namespaces", &StepError{Step: "start init", Err: syscall.EPERM}}
	noMounts  = Attempt{"namespaces", &StepError{Step: "mount MS_PRIVATE", Path: "/", Err: syscall.EACCES}}
	noProc    = Attempt{"namespaces", &StepError{Step: "mount proc", Err: syscall.EPERM}}
	noRuleset = Attempt{"landlock", &StepError{Step: "landlock ruleset ruleset.worker", Err: syscall.ENOENT}}
)

var both = []string{"/tmp", "/dev/shm"}

func TestChoose(t *testing.T) {
	ownSpaces := Posture{Name: "namespaces", Namespaces: true, OwnIPC: true, ABI: 6, FirstUID: 0x70000000, Bounding: 41,
		Temp: "/tmp", Writable: both}
	rootSpaces := ownSpaces
	rootSpaces.OwnUID, rootSpaces.OpenTrees, rootSpaces.FirstUID = true, true, 0x70000000+300*256
	ubuntuSpaces := ownSpaces
	ubuntuSpaces.OwnIPC, ubuntuSpaces.ABI, ubuntuSpaces.FirstUID = false, 4, rootSpaces.FirstUID
	userSpaces := rootSpaces
	userSpaces.OwnUID, userSpaces.OpenTrees = false, false
	plainSpaces := userSpaces
	plainSpaces.ABI = 0
	tests := []struct {
		name      string
		isolation string
		have      Support
		failed    []Attempt
		want      Posture
	}{
		{"root on a bare host", "auto", bareRoot, nil, rootSpaces},
		{"user on a bare host", "auto", bareUser, nil, userSpaces},
		{"without Landlock", "auto", but(bareUser, func(s *Support) { s.LandlockABI = 0 }), nil, plainSpaces},
		{"a profile may allow what a setting forbids", "auto", ubuntuUser, nil, ubuntuSpaces},
		{"a container that allows namespaces", "namespaces", dockerLine, nil, ownSpaces},
		{"root on a bare host that asks for less", "landlock", bareRoot, nil, Posture{Name: "landlock", ABI: 6, SignalScope: true,
			OwnUID: true, FirstUID: 0x70000000 + 300*256, OwnMounts: true, Bounding: 41, Temp: "/tmp", Writable: both}},
		{"published docker line", "auto", dockerLine, []Attempt{noUserNS}, Posture{Name: "landlock", ABI: 6, SignalScope: true,
			FirstUID: 0x70000000, Temp: "/tmp", Writable: both}},
		{"root in a container", "auto", dockerRoot, []Attempt{noUserNS}, Posture{Name: "landlock", ABI: 6, SignalScope: true,
			OwnUID: true, FirstUID: 0x70000000 + 256, Bounding: 41, Temp: "/dev/shm", Writable: []string{"/dev/shm"}}},
		{"older kernel in a container", "auto", but(dockerLine, func(s *Support) { s.Kernel, s.LandlockABI = "6.1.0-28-amd64", 2 }),
			[]Attempt{noUserNS}, Posture{Name: "landlock", ABI: 2, FirstUID: 0x70000000, Temp: "/tmp", Writable: both}},
		{"user namespace of 65,536 ids", "landlock", but(dockerRoot, func(s *Support) { s.UIDs = 65536 }), nil, Posture{Name: "landlock",
			ABI: 6, SignalScope: true, OwnUID: true, FirstUID: 61184, Bounding: 41, Temp: "/dev/shm", Writable: []string{"/dev/shm"}}},
		{"container", "container", but(dockerLine, func(s *Support) { s.LandlockABI = 0 }), nil, Posture{Name: "container",
			Temp: "/tmp", Writable: both}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, passed, err := Choose(tt.isolation, tt.have, tt.failed)
			if err != nil {
				t.Fatalf("Choose(%q) error: %v", tt.isolation, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Choose(%q) (-want +got):\n%s", tt.isolation, diff)
			}
			if diff := cmp.Diff(attempted(tt.failed), attempted(passed)); diff != "" {
				t.Errorf("Choose(%q) passed over (-want +got):\n%s", tt.isolation, diff)
			}
		})
	}
}

func attempted(attempts []Attempt) []string {
	names := []string{}
	for _, a := range attempts {
		names = append(names, a.Posture)
	}
	return names
}

// Each posture that is passed over at a look is told, with the reason.
func TestChoosePassesOver(t *testing.T) {
	old := but(dockerLine, func(s *Support) { s.Kernel = "5.10.0-33-amd64" })
	got, passed, err := Choose("auto", old, nil)
	if err != nil || got.Name != "landlock" || len(passed) != 1 {
		t.Fatalf("Choose = %+v, %v, %v, want landlock after one attempt", got, passed, err)
	}
	if a := passed[0]; a.Posture != "namespaces" || a.Err.Error() != "Linux 5.10.0-33-amd64" || a.Hint(old) != "needs Linux 5.14 or later" {
		t.Errorf("passed over %+v, hint %q", a, a.Hint(old))
	}
}

func TestChooseRefuses(t *testing.T) {
	noLandlock := func(s *Support) { s.LandlockABI, s.LandlockErr = 0, "function not implemented" }
	const asUser = "start it as an ordinary uid: --user 65532:65532"
	tests := []struct {
		name      string
		isolation string
		have      Support
		failed    []Attempt
		reason    []string // each once, in this order
		hint      []string // likewise
	}{
		{"Ubuntu 24.04 without its profile", "auto", ubuntuUser, []Attempt{noMounts},
			[]string{"namespaces: mount MS_PRIVATE /: permission denied (kernel.apparmor_restrict_unprivileged_userns is 1)",
				"landlock: on a bare host under one's own uid it is no sandbox (the pid namespace is the host's)"},
			[]string{"sudo apparmor_parser -r", "start it as root", DockerLine}},
		{"user namespaces switched off", "namespaces", but(bareUser, func(s *Support) {
			s.UserNSErr, s.UserNSHint = "user.max_user_namespaces is 0", "sudo sysctl user.max_user_namespaces=10000"
		}), []Attempt{noUserNS},
			[]string{"namespaces: start init: operation not permitted (user.max_user_namespaces is 0)"}, []string{"sudo sysctl"}},
		{"user namespaces fail for no known reason", "namespaces", bareUser, []Attempt{noUserNS},
			[]string{"namespaces: start init: operation not permitted"}, []string{"allow unprivileged user namespaces"}},
		{"a container that denies both", "auto", but(dockerLine, noLandlock), []Attempt{noUserNS},
			[]string{"namespaces: start init", "landlock: function not implemented"},
			[]string{"a seccomp profile that allows unshare", "landlock among its security modules"}},
		{"masked paths in a container", "namespaces", dockerLine, []Attempt{noProc},
			[]string{"namespaces: mount proc: operation not permitted"}, []string{"systempaths=unconfined"}},
		{"both were built and do not work", "auto", bareRoot, []Attempt{noUserNS, noRuleset},
			[]string{"namespaces: start init", "landlock: landlock ruleset"}, []string{"allow unprivileged user namespaces"}},
		{"old kernel", "auto", but(bareUser, func(s *Support) { s.Kernel = "5.13.19"; noLandlock(s) }), nil,
			[]string{"namespaces: Linux 5.13.19", "landlock: function not implemented"}, []string{"Linux 5.14", "Linux 5.13"}},
		{"unknown kernel", "namespaces", but(bareUser, func(s *Support) { s.Kernel = "" }), nil, []string{"namespaces: Linux"}, []string{"Linux 5.14"}},
		{"one mapped id", "auto", but(dockerRoot, func(s *Support) { s.UIDs = 1 }), nil,
			[]string{"namespaces: this user namespace maps too few ids", "landlock: this user namespace maps too few ids"}, []string{asUser}},
		{"root without a capability", "auto", but(dockerRoot, func(s *Support) { s.MissingCaps = []string{"CAP_KILL", "CAP_CHOWN"} }), nil,
			[]string{"namespaces: running as uid 0 without CAP_KILL, CAP_CHOWN", "landlock: running as uid 0 without CAP_KILL"}, []string{asUser}},
		{"root that can't mount", "landlock", but(bareRoot, func(s *Support) { s.Mount = false }), nil, []string{"bare host"}, []string{"docker run"}},
		{"no tmpfs", "landlock", but(dockerLine, func(s *Support) { s.Writable = nil }), nil, []string{"neither /tmp nor /dev/shm"}, []string{"--tmpfs /tmp"}},
		{"a foreign process in the container", "landlock", but(dockerLine, func(s *Support) {
			s.Container, s.ContainerErr = false, "process 9 in this container is not ours"
		}), nil, []string{"process 9 in this container"}, []string{"docker run"}},
		{"auto never takes container", "auto", but(dockerLine, noLandlock), []Attempt{noUserNS},
			[]string{"namespaces: ", "landlock: "}, nil},
		{"container on a bare host", "container", bareUser, nil, []string{"a container of its own (the pid namespace is the host's)"}, []string{"docker run"}},
		{"container as root", "container", dockerRoot, nil, []string{"an uid that is not 0"}, []string{"--user 65532:65532"}},
		{"container with capabilities", "container", but(dockerLine, func(s *Support) { s.BoundingSet = true }), nil,
			[]string{"an empty bounding set"}, []string{"--cap-drop ALL"}},
		{"container that can be written to", "container", but(dockerLine, func(s *Support) { s.ReadOnlyRoot = false }), nil,
			[]string{"a read-only root directory"}, []string{"--read-only"}},
		{"container without a tmpfs", "container", but(dockerLine, func(s *Support) { s.Writable = nil }), nil,
			[]string{"neither /tmp nor /dev/shm"}, []string{"--tmpfs /tmp"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, passed, err := Choose(tt.isolation, tt.have, tt.failed)
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("Choose = %+v, %v, want a refusal", got, err)
			}
			inOrderOnce(t, "reason", refusal.Reason, tt.reason)
			inOrderOnce(t, "hint", refusal.Hint, tt.hint)
			if strings.Contains(refusal.Reason, "container: ") != (tt.isolation == "container") {
				t.Errorf("isolation %q tried: %q", tt.isolation, refusal.Reason)
			}
			if len(passed) != strings.Count(refusal.Reason, "; ")+1 {
				t.Errorf("passed over %v, but the reason is %q", attempted(passed), refusal.Reason)
			}
		})
	}
}

func inOrderOnce(t *testing.T, what, text string, want []string) {
	t.Helper()
	rest := text
	for _, part := range want {
		_, after, found := strings.Cut(rest, part)
		if !found || strings.Count(text, part) != 1 {
			t.Errorf("%s = %q, want it to hold once, and in this order, each of %q", what, text, want)
			return
		}
		rest = after
	}
}

func TestChooseUnknownIsolation(t *testing.T) {
	_, passed, err := Choose("strong", dockerLine, nil)
	if err == nil || !strings.Contains(err.Error(), `"strong"`) || !strings.Contains(err.Error(), "auto or one of namespaces, landlock, container") {
		t.Errorf("Choose(strong) error = %v, want one that names the value and what is allowed", err)
	}
	if errors.As(err, new(*Refusal)) || passed != nil {
		t.Errorf("Choose(strong) = %v, passed over %v: a mistake of the user, not of the host", err, passed)
	}
}

// What is handed in stays as it is: the caller compares lengths.
func TestChooseDoesNotWriteToItsArgument(t *testing.T) {
	failed := make([]Attempt, 1, 8)
	failed[0] = noUserNS
	before := append([]Attempt{}, failed...)
	_, passed, err := Choose("auto", bareUser, failed)
	if err == nil || len(passed) != 2 {
		t.Fatalf("passed over %v, %v, want two and a refusal", attempted(passed), err)
	}
	if diff := cmp.Diff(before, failed, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("failed (-before +after):\n%s", diff)
	}
}

func TestKernelVersion(t *testing.T) {
	for kernel, old := range map[string]bool{"5.14.0": false, "5.13.0": true, "4.18.0-553.el8": true, "6.0.1": false,
		"5.14-rc1": false, "10.0": false, "": true} {
		if _, err := namespaces(Support{Kernel: kernel}); (err != nil) != old {
			t.Errorf("namespaces on Linux %q: %v, want it refused: %t", kernel, err, old)
		}
	}
}

// No uid of a program is root's, and no two servers on a host share one.
func TestFirstUID(t *testing.T) {
	seen := map[int]int{}
	for nonce := 0; nonce < 1<<22; nonce += 4099 {
		first := firstUID(math.MaxInt32, nonce)
		if first < 1<<30 || first+uids > math.MaxInt32 || (first-0x70000000)%uids != 0 {
			t.Fatalf("firstUID(all, %d) = %d, not a place of the range of ids", nonce, first)
		}
		if other, ok := seen[first]; ok && (nonce-other)%(1<<19) != 0 {
			t.Fatalf("nonces %d and %d share uid %d", other, nonce, first)
		}
		seen[first] = nonce
	}
	for _, tt := range []struct{ mapped, nonce, want int }{
		{math.MaxInt32, math.MaxInt, 0x70000000 + (1<<19-1)*256},
		{0x78000000, 1, 0x70000100},
		{0x78000000 - 1, 1, 61184},
		{65536, 7, 61184},
		{61184 + 256, 7, 61184},
		{61184 + 255, 7, 0},
		{1, 7, 0},
		{0, 7, 0},
	} {
		if got := firstUID(tt.mapped, tt.nonce); got != tt.want {
			t.Errorf("firstUID(%d, %d) = %d, want %d", tt.mapped, tt.nonce, got, tt.want)
		}
	}
}
