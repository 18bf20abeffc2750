package sandbox

import (
	"fmt"
	"strings"
)

// Posture is a named set of protections. It is data: the lists of steps, the
// ruleset and the filter are made from it.
type Posture struct {
	Name string // "landlock"

	ABI         int  // Landlock ABI whose rights are handled (1: Linux 5.13)
	SignalScope bool // Landlock mediates signals (ABI 6, Linux 6.12); else seccomp rules and a sweep
	OwnUID      bool // started as root: every slot has an uid of its own
	FirstUID    int  // slot n has uid and gid FirstUID+n; with OwnUID
	OwnMounts   bool // started as root on a bare host: private /tmp, /dev/shm and /proc
	Bounding    int  // so many capabilities are dropped from the bounding set; 0: CAP_SETPCAP is not held

	Temp     string   // holds the run's directory; TMPDIR
	Writable []string // tmpfs mounts that are the run's alone and swept after it
}

// Level names the strength within the posture, for log and doctor.
func (p Posture) Level() string {
	if p.SignalScope {
		return fmt.Sprintf("full (Landlock ABI %d)", p.ABI)
	}
	return fmt.Sprintf("no signal scope (Landlock ABI %d): signals denied by seccomp, stragglers swept", p.ABI)
}

// Support is what this host gives, measured by Probe.
type Support struct {
	LandlockABI  int      // 0: none, LandlockErr says why
	LandlockErr  string   // "operation not permitted"
	Root         bool     // effective uid 0
	MissingCaps  []string // of those that a server needs which runs as root
	Mount        bool     // CAP_SYS_ADMIN: private mounts can be made
	Bounding     int      // with CAP_SETPCAP the number of capabilities that the kernel knows, else 0
	Writable     []string // of /tmp and /dev/shm those that are tmpfs, without a mount below
	UIDs         int      // ids mapped in this user namespace, from 0 on
	Nonce        int      // random: tells apart the uids of two servers on one host
	Container    bool     // own pid namespace in which every visible process is ours or PID 1
	ContainerErr string   // why not
}

// DockerLine works on any machine with Docker; refusals end with it.
const DockerLine = "run it in a container: docker run -i --rm --network none --read-only --cap-drop ALL " +
	"--security-opt no-new-privileges --user 65532:65532 --tmpfs /tmp:rw,noexec,nosuid,size=64m " +
	"--memory 256m --pids-limit 128 --cpus 1 IMAGE"

// Refusal says that this host gives no posture that keeps the promises, and the
// remedy.
type Refusal struct {
	Reason string
	Hint   string
}

func (r *Refusal) Error() string { return r.Reason }

// Choose picks the posture for what the host gives. It is pure. isolation is
// "auto" or a posture's name, which refuses less.
func Choose(isolation string, have Support) (Posture, error) {
	if isolation != "auto" && isolation != "landlock" {
		return Posture{}, fmt.Errorf("isolation %q: want auto or landlock", isolation)
	}
	if have.LandlockABI < 1 {
		return Posture{}, &Refusal{
			Reason: "landlock: " + have.LandlockErr,
			Hint:   "needs Linux 5.13 or later with landlock among its security modules, and a seccomp profile that allows landlock_create_ruleset",
		}
	}
	if have.Root && len(have.MissingCaps) > 0 {
		return Posture{}, &Refusal{
			Reason: "landlock: running as uid 0 without " + strings.Join(have.MissingCaps, ", "),
			Hint:   "start it as an ordinary uid: --user 65532:65532",
		}
	}
	if !have.Container && !(have.Root && have.Mount) {
		return Posture{}, &Refusal{
			Reason: "landlock: on a bare host under one's own uid it is no sandbox (" + have.ContainerErr + ")",
			Hint:   "start it as root, or " + DockerLine,
		}
	}
	writable := have.Writable
	if have.Root && !have.Container {
		writable = []string{"/tmp", "/dev/shm"}
	}
	if len(writable) == 0 {
		return Posture{}, &Refusal{
			Reason: "landlock: neither /tmp nor /dev/shm is a tmpfs that belongs to root and has no mount below, so nothing bounds what a run writes",
			Hint:   "add --tmpfs /tmp:rw,noexec,nosuid,size=64m,nr_inodes=8192",
		}
	}
	uid := firstUID(have.UIDs, have.Nonce)
	if have.Root && uid == 0 {
		return Posture{}, &Refusal{
			Reason: "landlock: this user namespace maps too few ids to give a program one of its own",
			Hint:   "start it as an ordinary uid: --user 65532:65532",
		}
	}
	return Posture{
		Name:        "landlock",
		ABI:         have.LandlockABI,
		SignalScope: have.LandlockABI >= 6,
		OwnUID:      have.Root,
		FirstUID:    uid,
		OwnMounts:   have.Root && !have.Container,
		Bounding:    have.Bounding,
		Temp:        writable[0],
		Writable:    writable,
	}, nil
}

// MaxSlots bounds how many slots one server has, so that no two servers on a
// host share an uid: RLIMIT_NPROC and signals go by uid.
const MaxSlots = 16

// firstUID is the first of MaxSlots uids that nothing else uses: far above what
// adduser, systemd and subuid ranges give out, one of four million places. A
// container that maps only 65,536 ids gets its own near the end of those.
func firstUID(mapped, nonce int) int {
	const far, near, places = 0x70000000, 61184, 1 << 22
	switch {
	case mapped >= far+places*MaxSlots:
		return far + nonce%places*MaxSlots
	case mapped >= near+MaxSlots:
		return near
	}
	return 0
}
