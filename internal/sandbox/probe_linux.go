package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// initialPIDNamespace is the inode of /proc/self/ns/pid on a bare host, a
// constant of the kernel (PROC_PID_INIT_INO, Linux 3.8).
const initialPIDNamespace = "pid:[4026531836]"

// Probe measures what this host gives. maskABI, when above 0, hides the rights
// of newer Landlock ABIs, as on an older kernel, and below 0 all of Landlock: for tests.
func Probe(maskABI int) Support {
	have := Support{
		Kernel:       kernelRelease(),
		Root:         os.Geteuid() == 0,
		MissingCaps:  missingCaps(),
		Mount:        capable(unix.CAP_SYS_ADMIN),
		Capabilities: knownCapabilities(),
		BoundingSet:  boundingSet(),
		Writable:     tmpfsMounts("/tmp", "/dev/shm"),
		ReadOnlyRoot: readOnly("/"),
		UIDs:         mappedIDs(),
		Nonce:        rand.Int(),
	}
	if capable(unix.CAP_SETPCAP) {
		have.Bounding = have.Capabilities
	}
	major, minor := have.kernelVersion()
	have.IPCLimits = major > 6 || major == 6 && minor >= 9
	have.UserNSErr, have.UserNSHint = forbiddenUserNS()
	have.LandlockABI, have.LandlockErr = landlockABI(maskABI)
	if err := inContainer(); err != nil {
		have.ContainerErr = err.Error()
	} else {
		have.Container = true
	}
	return have
}

// rootCaps are what a server needs that runs as root: to give a program an uid of
// its own and its pipes, and to kill and clean up after it.
var rootCaps = []struct {
	name   string
	number int
}{
	{"CAP_CHOWN", unix.CAP_CHOWN}, {"CAP_DAC_OVERRIDE", unix.CAP_DAC_OVERRIDE}, {"CAP_FOWNER", unix.CAP_FOWNER},
	{"CAP_KILL", unix.CAP_KILL}, {"CAP_SETGID", unix.CAP_SETGID}, {"CAP_SETUID", unix.CAP_SETUID},
}

func missingCaps() []string {
	var missing []string
	for _, c := range rootCaps {
		if !capable(c.number) {
			missing = append(missing, c.name)
		}
	}
	return missing
}

func kernelRelease() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}

// userNSSettings are the files under /proc/sys that forbid user namespaces, to
// whom they do, and the remedy. The first is AppArmor's, on Ubuntu 24.04 and later.
var userNSSettings = []struct {
	file, forbidding string
	root             bool // root too
	hint             string
}{
	{"kernel/apparmor_restrict_unprivileged_userns", "1", false, "sudo install mcp-exec /usr/local/bin/ && sudo cp deploy/apparmor/mcp-exec /etc/apparmor.d/ && " +
		"sudo apparmor_parser -r /etc/apparmor.d/mcp-exec, and start it from there"},
	{"kernel/unprivileged_userns_clone", "0", false, "sudo sysctl kernel.unprivileged_userns_clone=1"},
	{"user/max_user_namespaces", "0", true, "sudo sysctl user.max_user_namespaces=10000"},
}

// forbiddenUserNS reads what a host is set to. It explains a failure, it does not
// foretell one: a profile may allow what the setting forbids.
func forbiddenUserNS() (reason, hint string) {
	for _, s := range userNSSettings {
		text, err := os.ReadFile("/proc/sys/" + s.file)
		if value := strings.TrimSpace(string(text)); err == nil && value == s.forbidding && (s.root || os.Geteuid() != 0) {
			return strings.ReplaceAll(s.file, "/", ".") + " is " + value, s.hint
		}
	}
	return "", ""
}

func boundingSet() bool {
	for c := range knownCapabilities() {
		if held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0); err == nil && held == 1 {
			return true
		}
	}
	return false
}

func readOnly(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
}

func landlockABI(mask int) (int, string) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0, err.Error()
	}
	switch {
	case mask < 0:
		return 0, "masked"
	case mask > 0:
		abi = min(abi, mask)
	}
	return abi, ""
}

func capable(capability int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	return data[capability/32].Effective>>(capability%32)&1 == 1
}

func knownCapabilities() int {
	text, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err != nil {
		return unix.CAP_LAST_CAP + 1
	}
	last, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return unix.CAP_LAST_CAP + 1
	}
	return last + 1
}

// inContainer says why this is not a pid namespace of our own, or nil.
func inContainer() error {
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return fmt.Errorf("readlink /proc/self/ns/pid: %w", err)
	}
	if ns == initialPIDNamespace {
		return errors.New("the pid namespace is the host's")
	}
	pids, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	for _, dir := range pids {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid != 1 && pid != os.Getpid() && !descendant(pid) {
			return fmt.Errorf("process %d in this container is not ours", pid)
		}
	}
	return nil
}

// descendant reports whether pid was started by this process; one that is gone
// by now does not count against the container.
func descendant(pid int) bool {
	for pid > 1 {
		parent, err := parentOf(pid)
		if err != nil || parent == os.Getpid() {
			return true
		}
		pid = parent
	}
	return false
}

func parentOf(pid int) (int, error) {
	_, parent, err := ProcessState(pid)
	return parent, err
}

// ProcessState reads /proc/PID/stat: the state ("Z" is dead) and the parent.
func ProcessState(pid int) (state string, parent int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, err
	}
	// The command name may hold anything: fields follow the last parenthesis.
	_, err = fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &parent)
	return state, parent, err
}

// tmpfsMounts keeps those paths that lie on somebody else's tmpfs with no other mount below:
// a volume there would be swept, or shared between runs. Two paths that are one
// directory (a link) are one.
func tmpfsMounts(paths ...string) []string {
	var kept, seen []string
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !isTmpfs(real) || mountBelow(real) || ownedByUs(real) {
			continue
		}
		if len(seen) > 0 && seen[0] == real {
			continue
		}
		kept, seen = append(kept, path), append(seen, real)
	}
	return kept
}

// isTmpfs: one that can be written to.
func isTmpfs(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Type == unix.TMPFS_MAGIC && fs.Flags&unix.ST_RDONLY == 0
}

// ownedByUs: a program with our uid could close the directory to the next one.
func ownedByUs(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) != nil || int(st.Uid) == os.Geteuid() && st.Uid != 0
}

func mountBelow(dir string) bool {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return true
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			return true
		}
	}
	return lines.Err() != nil
}

// mappedIDs is how many ids from 0 on this user namespace maps.
func mappedIDs() int {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0
	}
	var inside, outside, count int
	if _, err := fmt.Sscan(string(text), &inside, &outside, &count); err != nil || inside != 0 {
		return 0
	}
	return min(count, math.MaxInt32)
}
