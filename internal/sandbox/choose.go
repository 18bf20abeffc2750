package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Refusal says that this host gives no posture that keeps the promises, and the
// remedy.
type Refusal struct {
	Reason string
	Hint   string
}

func (r *Refusal) Error() string { return r.Reason }

// Attempt is a posture that this host does not give: refused at a look, or built
// and found not to work.
type Attempt struct {
	Posture string
	Err     error
}

// candidates from the strongest down.
var candidates = []struct {
	name    string
	unasked bool // auto may take it
	make    func(Support) (Posture, error)
}{
	{"namespaces", true, namespaces},
	{"landlock", true, landlocked},
	{"container", false, contained},
}

// ReasonToTryAnother: this host does not give the posture that failed so. Anything
// else, a bad setting or too little memory, fails in every posture.
func ReasonToTryAnother(err error) bool {
	return errors.As(err, new(*StepError)) || errors.As(err, new(*Refusal))
}

// Postures are the names that Choose knows besides "auto".
func Postures() []string {
	var names []string
	for _, c := range candidates {
		names = append(names, c.name)
	}
	return names
}

// Choose picks the strongest posture that is not among the failed, and adds to
// those what it passed over. It is pure. isolation is "auto" or a posture's name,
// which refuses less.
func Choose(isolation string, have Support, failed []Attempt) (Posture, []Attempt, error) {
	if isolation != "auto" && !slices.Contains(Postures(), isolation) {
		return Posture{}, nil, fmt.Errorf("isolation %q: want auto or one of %s", isolation, strings.Join(Postures(), ", "))
	}
	for _, c := range candidates {
		wanted := c.name == isolation || isolation == "auto" && c.unasked
		tried := slices.ContainsFunc(failed, func(a Attempt) bool { return a.Posture == c.name })
		if !wanted || tried {
			continue
		}
		posture, err := c.make(have)
		if err == nil {
			return posture, failed, nil
		}
		failed = append(failed, Attempt{c.name, err})
	}
	return Posture{}, failed, noneLeft(have, failed)
}

// noneLeft joins reasons and remedies.
func noneLeft(have Support, failed []Attempt) error {
	var reasons, hints []string
	for _, a := range failed {
		reasons = append(reasons, a.Posture+": "+a.Reason(have))
		if hint := a.Hint(have); hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	return &Refusal{Reason: strings.Join(reasons, "; "), Hint: strings.Join(hints, "; or ")}
}

// Reason adds to a refused system call the setting that refuses it.
func (a Attempt) Reason(have Support) string {
	if errors.As(a.Err, new(*StepError)) && a.Posture == "namespaces" && have.UserNSErr != "" {
		return a.Err.Error() + " (" + have.UserNSErr + ")"
	}
	return a.Err.Error()
}

// Hint is the remedy, or empty.
func (a Attempt) Hint(have Support) string {
	var refusal *Refusal
	if errors.As(a.Err, &refusal) {
		return refusal.Hint
	}
	var step *StepError
	if a.Posture == "namespaces" && errors.As(a.Err, &step) {
		return have.namespacesHint(step)
	}
	return ""
}

// namespacesHint knows what usually stands in the way.
func (s Support) namespacesHint(step *StepError) string {
	switch {
	case s.UserNSHint != "":
		return s.UserNSHint
	case step.Step == "mount proc" && !s.Container:
		return "unmount what covers parts of /proc: the kernel gives no proc to a user namespace that sees it so"
	case s.Container:
		return "for namespaces in a container: a seccomp profile that allows unshare, setns, clone with namespaces and mounts, and --security-opt systempaths=unconfined"
	}
	return "allow unprivileged user namespaces"
}

// namespacesKernel: per-namespace RLIMIT_NPROC came with 5.14, mount_setattr with 5.12.
var namespacesKernel = [2]int{5, 14}

func namespaces(have Support) (Posture, error) {
	if major, minor := have.kernelVersion(); major < namespacesKernel[0] || major == namespacesKernel[0] && minor < namespacesKernel[1] {
		return Posture{}, &Refusal{Reason: "Linux " + have.Kernel, Hint: "needs Linux 5.14 or later"}
	}
	if have.Root && len(have.MissingCaps) > 0 {
		return Posture{}, withoutCaps(have)
	}
	uid := firstUID(have.UIDs, have.Nonce)
	if have.Root && uid == 0 {
		return Posture{}, tooFewIDs()
	}
	return Posture{
		Name: "namespaces", Namespaces: true, OpenTrees: have.Root && have.Mount, OwnIPC: have.IPCLimits, ABI: have.LandlockABI,
		OwnUID: have.Root, FirstUID: uid, Bounding: have.Capabilities,
		Temp: "/tmp", Writable: []string{"/tmp", "/dev/shm"},
	}, nil
}

func (s Support) kernelVersion() (major, minor int) {
	_, _ = fmt.Sscanf(s.Kernel, "%d.%d", &major, &minor)
	return major, minor
}

func withoutCaps(have Support) error {
	return &Refusal{
		Reason: "running as uid 0 without " + strings.Join(have.MissingCaps, ", "),
		Hint:   "start it as an ordinary uid: --user 65532:65532",
	}
}

func tooFewIDs() error {
	return &Refusal{
		Reason: "this user namespace maps too few ids to give a program one of its own",
		Hint:   "start it as an ordinary uid: --user 65532:65532",
	}
}

func landlocked(have Support) (Posture, error) {
	if have.LandlockABI < 1 {
		return Posture{}, &Refusal{
			Reason: have.LandlockErr,
			Hint:   "needs Linux 5.13 or later with landlock among its security modules, and a seccomp profile that allows landlock_create_ruleset",
		}
	}
	if have.Root && len(have.MissingCaps) > 0 {
		return Posture{}, withoutCaps(have)
	}
	if !have.Container && !(have.Root && have.Mount) {
		return Posture{}, &Refusal{
			Reason: "on a bare host under one's own uid it is no sandbox (" + have.ContainerErr + ")",
			Hint:   "start it as root, or " + DockerLine,
		}
	}
	uid := firstUID(have.UIDs, have.Nonce)
	if have.Root && uid == 0 {
		return Posture{}, tooFewIDs()
	}
	p := Posture{
		Name: "landlock", ABI: have.LandlockABI, SignalScope: have.LandlockABI >= 6,
		OwnUID: have.Root, FirstUID: uid, OwnMounts: have.Root && !have.Container, Bounding: have.Bounding,
		Writable: have.Writable,
	}
	if p.OwnMounts {
		p.Writable = []string{"/tmp", "/dev/shm"}
	}
	return p.withTemp()
}

// contained is what is left without Landlock: system calls and limits, inside a
// container that keeps the rest.
func contained(have Support) (Posture, error) {
	missing := func(what, hint string) (Posture, error) {
		return Posture{}, &Refusal{Reason: "without Landlock it needs " + what, Hint: hint}
	}
	switch {
	case !have.Container:
		return missing("a container of its own ("+have.ContainerErr+")", DockerLine)
	case have.Root:
		return missing("an uid that is not 0", "--user 65532:65532")
	case have.BoundingSet:
		return missing("an empty bounding set", "--cap-drop ALL")
	case !have.ReadOnlyRoot:
		return missing("a read-only root directory", "--read-only")
	}
	p := Posture{Name: "container", Writable: have.Writable}
	return p.withTemp()
}

func (p Posture) withTemp() (Posture, error) {
	if len(p.Writable) == 0 {
		return Posture{}, &Refusal{
			Reason: "neither /tmp nor /dev/shm is a writable tmpfs that belongs to root and has no mount below, so nothing bounds what a run writes",
			Hint:   "add --tmpfs /tmp:rw,noexec,nosuid,size=64m,nr_inodes=8192",
		}
	}
	p.Temp = p.Writable[0]
	return p, nil
}

// MaxSlots bounds how many slots one server has, so that no two servers on a
// host share an uid: RLIMIT_NPROC and signals go by uid.
const MaxSlots = 255

// uids of one server: one for each slot, and one for the fork servers.
const uids = MaxSlots + 1

// firstUID is the first of so many uids that nothing else uses: far above what
// adduser, systemd and subuid ranges give out, one of half a million places. A
// container that maps only 65,536 ids gets its own near the end of those.
func firstUID(mapped, nonce int) int {
	const far, near, places = 0x70000000, 61184, 1 << 19
	switch {
	case mapped >= far+places*uids:
		return far + nonce%places*uids
	case mapped >= near+uids:
		return near
	}
	return 0
}
