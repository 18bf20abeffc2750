package sandbox

import "fmt"

// Posture is a named set of protections. It is data: the lists of steps, the
// ruleset, the filter and the root directory are made from it.
type Posture struct {
	Name string // "namespaces"

	Namespaces bool // every run has its own user, pid, network, ipc, mount and cgroup namespace
	OpenTrees  bool // root with CAP_SYS_ADMIN opens what the new root is made of, which may lie in a private home
	OwnIPC     bool // the limits of its ipc namespace can be set (Linux 6.9), so its objects are allowed

	ABI         int  // Landlock ABI whose rights are handled (1: Linux 5.13); 0: without Landlock
	SignalScope bool // Landlock mediates the fork servers' signals (ABI 6, Linux 6.12)
	OwnUID      bool // started as root: every slot has an uid of its own, see UID
	FirstUID    int  // with OwnUID
	OwnMounts   bool // landlock as root on a bare host: private /tmp, /dev/shm and /proc
	Bounding    int  // so many capabilities are dropped from the bounding set; 0: CAP_SETPCAP is not held

	Temp     string   // holds the run's directory; TMPDIR
	Writable []string // tmpfs mounts that are the run's alone
}

// Enclosed: the kernel keeps a run's signals inside the run, and its reaper's
// kill(-1) reaches exactly the run. Else seccomp and a sweep stand in.
func (p Posture) Enclosed() bool { return p.Namespaces || p.SignalScope }

// UID is the uid and gid of a slot as this server sees it; -1 is the server's own.
func (p Posture) UID(slot int) int {
	if !p.OwnUID {
		return -1
	}
	return p.FirstUID + 1 + slot // the first is that of the fork servers, in namespaces
}

// Level names the strength within the posture, for log and doctor.
func (p Posture) Level() string {
	switch {
	case p.Name == "container":
		return "no Landlock: every file of this uid can be read"
	case p.Namespaces && p.ABI == 0:
		return "without Landlock as a second line"
	case p.Namespaces:
		return fmt.Sprintf("full (Landlock ABI %d as a second line)", p.ABI)
	case p.SignalScope:
		return fmt.Sprintf("full (Landlock ABI %d)", p.ABI)
	}
	return fmt.Sprintf("no signal scope (Landlock ABI %d): signals denied by seccomp, stragglers swept", p.ABI)
}

// Support is what this host gives, measured by Probe.
type Support struct {
	Kernel       string   // "6.8.0-45-generic"
	UserNSErr    string   // why this host's settings forbid user namespaces, or empty
	UserNSHint   string   // the remedy
	IPCLimits    bool     // the root of a namespace can limit its ipc objects (Linux 6.9)
	LandlockABI  int      // 0: none, LandlockErr says why
	LandlockErr  string   // "operation not permitted"
	Root         bool     // effective uid 0
	MissingCaps  []string // of those that a server needs which runs as root
	Mount        bool     // CAP_SYS_ADMIN: private mounts can be made
	Capabilities int      // how many the kernel knows
	Bounding     int      // with CAP_SETPCAP the same number, else 0
	BoundingSet  bool     // this process has a bounding set that is not empty
	Writable     []string // of /tmp and /dev/shm those that are tmpfs, without a mount below
	ReadOnlyRoot bool     // the root directory is mounted read-only
	UIDs         int      // ids mapped in this user namespace, from 0 on
	Nonce        int      // random: tells apart the uids of two servers on one host
	Container    bool     // own pid namespace in which every visible process is ours or PID 1
	ContainerErr string   // why not
}

// DockerLine works on any machine with Docker; refusals end with it.
const DockerLine = "run it in a container: docker run -i --rm --network none --read-only --cap-drop ALL " +
	"--security-opt no-new-privileges --user 65532:65532 --tmpfs /tmp:rw,noexec,nosuid,size=64m " +
	"--memory 256m --pids-limit 128 --cpus 1 IMAGE"
