package sandbox

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Every run lives in namespaces of its own, made ahead and used once. A fork
// server forks the reaper into a new pid namespace, whose first process it is:
// its kill(-1) reaches exactly the run, its end is the end of all. The reaper
// makes the rest of the namespaces and mounts; the worker, forked from it, goes
// into one more user namespace, in which it holds nothing.

// WorkerID is the uid and gid that a program sees of itself in namespaces.
const WorkerID = 65532

// Descriptors that the processes keep under a name.
const (
	fdPIDNS = FD("pid namespace")  // the fork servers' own, to come back to
	fdProc  = FD("writable proc")  // the run's proc, not in its directory tree
	fdFile  = FD("file")           // of a short step
	fdRules = FD("ruleset.worker") // made in the worker: its mounts are its own
)

// ForkSteps are made by a fork server around the fork(2) of a reaper. Unshare
// does not move the caller, and is possible once until setns takes it back.
func (p Posture) ForkSteps() (before, after []Step) {
	if !p.Namespaces {
		return nil, nil
	}
	return []Step{{Name: "unshare CLONE_NEWPID", Nr: unix.SYS_UNSHARE, Args: []Arg{Int(unix.CLONE_NEWPID)}}},
		[]Step{{Name: "setns CLONE_NEWPID", Nr: unix.SYS_SETNS, Args: []Arg{fdPIDNS, Int(unix.CLONE_NEWPID)}}}
}

func (p Posture) namespaceServerSteps() []Step {
	return []Step{
		prctl("PR_SET_NO_NEW_PRIVS", unix.PR_SET_NO_NEW_PRIVS, 1),
		open(fdPIDNS, Int(unix.AT_FDCWD), "/proc/self/ns/pid", unix.O_RDONLY),
	}
}

// namespaceReaperSteps make a slot. The new proc needs the fork server's beside it,
// fully visible, and is made read-only last: the worker writes its id maps through
// a second mount of it, which is in no directory tree.
func (p Posture) namespaceReaperSteps(s Slot) []Step {
	const spaces = unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWCGROUP
	const quiet = unix.MS_NOSUID | unix.MS_NODEV
	steps := []Step{
		{Name: "setsid", Nr: unix.SYS_SETSID, Any: true},
		{Name: "unshare CLONE_NEWNS|NEWNET|NEWIPC|NEWCGROUP", Nr: unix.SYS_UNSHARE, Args: []Arg{Int(spaces)}},
	}
	steps = append(steps, loopbackUp()...)
	steps = append(steps, limitBuffers()...)
	if p.OwnIPC {
		steps = append(steps, limitIPC(s.Limits)...)
		steps = append(steps, mount("mqueue", queues, "mqueue", quiet|unix.MS_NOEXEC, ""))
	}
	steps = append(steps,
		// A program finds its own processes there, not the reaper. Linux 5.8.
		mount("proc", "/proc", "proc", quiet|unix.MS_NOEXEC, "hidepid=ptraceable"),
		openTree(fdProc, "/proc"),
		setAttributes("/proc", unix.MOUNT_ATTR_RDONLY))
	var covered, links []Entry
	for _, dir := range p.Writable {
		covered = append(covered, treesBelow(dir, s.Root)...)
		links = append(links, linksBelow(dir, s.Root)...)
	}
	for i, e := range covered {
		steps = append(steps, openTree(fdCovered(i), e.Path))
	}
	steps = append(steps, mount("tmpfs", p.Temp, "tmpfs", quiet, tmpfsOptions(s.Limits.WorkspaceBytes)))
	for _, dir := range p.Writable[1:] { // one tmpfs, so that its size bounds them together
		steps = append(steps, mount(p.Temp, dir, "", unix.MS_BIND, ""))
	}
	return append(steps, uncover(p.Writable, covered, links)...)
}

func fdCovered(i int) FD { return FD(fmt.Sprintf("tree %d", i)) }

// uncover puts back what new mounts hide: an interpreter that lies there, and the links
// that lead to it.
func uncover(mounts []string, covered, links []Entry) []Step {
	var steps []Step
	made := map[string]bool{}
	for _, dir := range mounts {
		made[dir] = true
	}
	for i, e := range covered {
		steps = append(steps, makeDirs(e, made)...)
		if !e.Dir {
			steps = append(steps, open(fdFile, Int(unix.AT_FDCWD), e.Path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL), closeFD(fdFile))
		}
		steps = append(steps, Step{Name: "move_mount " + e.Path, Nr: unix.SYS_MOVE_MOUNT,
			Args: []Arg{fdCovered(i), Text(""), Int(unix.AT_FDCWD), Text(e.Path), Int(unix.MOVE_MOUNT_F_EMPTY_PATH)}},
			closeFD(fdCovered(i)))
	}
	for _, e := range links {
		steps = append(steps, makeDirs(e, made)...)
		steps = append(steps, Step{Name: "symlinkat " + e.Path, Nr: unix.SYS_SYMLINKAT,
			Args: []Arg{Text(e.Link), Int(unix.AT_FDCWD), Text(e.Path)}})
	}
	return steps
}

func makeDirs(e Entry, made map[string]bool) []Step {
	var steps []Step
	for _, dir := range parents(e, made) {
		steps = append(steps, Step{Name: "mkdirat " + dir, Nr: unix.SYS_MKDIRAT,
			Args: []Arg{Int(unix.AT_FDCWD), Text(dir), Int(0o755)}})
	}
	return steps
}

// namespaceWorkerSteps take the last rights away.
func (p Posture) namespaceWorkerSteps(w Worker) []Step {
	steps := []Step{{Name: "setsid", Nr: unix.SYS_SETSID, Any: true}}
	id := 0 // in the fork servers' user namespace
	if p.OwnUID {
		id = 1 + w.Slot
		steps = append(steps, setUID(id)...)
	}
	steps = append(steps,
		Step{Name: "unshare CLONE_NEWUSER", Nr: unix.SYS_UNSHARE, Args: []Arg{Int(unix.CLONE_NEWUSER)}})
	idMap := fmt.Sprintf("%d %d 1\n", WorkerID, id)
	steps = append(steps, writeFile(fdProc, "self/setgroups", "deny")...)
	steps = append(steps, writeFile(fdProc, "self/gid_map", idMap)...)
	steps = append(steps, writeFile(fdProc, "self/uid_map", idMap)...)
	steps = append(steps, writeFile(fdProc, "self/oom_score_adj", oomScore)...)
	// An ordinary user's runs share one budget of these, from which each gets a part.
	steps = append(steps, writeFile(fdProc, "sys/user/max_inotify_instances", "8")...)
	steps = append(steps, writeFile(fdProc, "sys/user/max_inotify_watches", "2048")...)
	steps = append(steps, dropBounding(p.Bounding)...)
	const reaper = 1
	steps = append(steps, dieWith(reaper)...)
	steps = append(steps, p.rlimits(w)...)
	steps = append(steps, noRights()...)
	return append(steps, p.ownRuleset()...)
}

// ownRuleset grants what the minimal root holds, and the run's own mounts: a second
// line behind the read-only mounts. TCP is not handled, localhost is the run's own.
func (p Posture) ownRuleset() []Step {
	if p.ABI == 0 {
		return nil
	}
	c := handled(p.ABI)
	attr := binary.NativeEndian.AppendUint64(nil, uint64(c.HandledAccessFS))
	attr = binary.NativeEndian.AppendUint64(attr, 0)
	attr = binary.NativeEndian.AppendUint64(attr, uint64(c.Scoped))
	steps := []Step{{Name: "landlock_create_ruleset", Nr: unix.SYS_LANDLOCK_CREATE_RULESET, Bind: string(fdRules),
		Args: []Arg{Bytes{Data: attr}, Int(len(attr)), Int(0)}}}
	rules := []struct {
		rights uint64
		paths  []string
	}{
		{uint64(readRights), []string{"/"}},
		{uint64(readRights | writeRights), p.Writable},
		{uint64(deviceRights), systemDevices},
	}
	if p.OwnIPC {
		rules[1].paths = append(slices.Clone(p.Writable), queues)
	}
	for _, r := range rules {
		for _, path := range r.paths {
			steps = append(steps, addRule(path, r.rights&uint64(c.HandledAccessFS))...)
		}
	}
	return append(steps, restrictSelf(fdRules))
}

// addRule passes a struct landlock_path_beneath_attr, which is packed: the rights,
// and at offset 8 the directory.
func addRule(path string, rights uint64) []Step {
	attr := binary.NativeEndian.AppendUint64(nil, rights)
	attr = append(attr, 0, 0, 0, 0)
	return []Step{
		open(fdFile, Int(unix.AT_FDCWD), path, unix.O_PATH),
		{Name: "landlock_add_rule " + path, Nr: unix.SYS_LANDLOCK_ADD_RULE,
			Args: []Arg{fdRules, Int(unix.LANDLOCK_RULE_PATH_BENEATH), Bytes{Data: attr, FDs: map[int]FD{8: fdFile}}, Int(0)}},
		closeFD(fdFile),
	}
}

// loopbackUp passes a struct ifreq: a name of 16 bytes, then the flags.
func loopbackUp() []Step {
	request := make([]byte, 40)
	copy(request, "lo")
	binary.NativeEndian.PutUint16(request[16:], unix.IFF_UP|unix.IFF_RUNNING)
	return []Step{
		{Name: "socket AF_INET", Nr: unix.SYS_SOCKET, Bind: string(fdFile),
			Args: []Arg{Int(unix.AF_INET), Int(unix.SOCK_DGRAM | unix.SOCK_CLOEXEC), Int(0)}},
		{Name: "ioctl SIOCSIFFLAGS lo", Nr: unix.SYS_IOCTL, Args: []Arg{fdFile, Int(unix.SIOCSIFFLAGS), Bytes{Data: request}}},
		closeFD(fdFile),
	}
}

// limitBuffers keeps what a TCP socket holds, both ways, to what any other socket
// does: a run's sockets are counted, see SocketBytes. Per namespace since Linux 4.15.
func limitBuffers() []Step {
	steps := writeFile(Int(unix.AT_FDCWD), "/proc/sys/net/ipv4/tcp_rmem", "4096 131072 131072")
	return append(steps, writeFile(Int(unix.AT_FDCWD), "/proc/sys/net/ipv4/tcp_wmem", "4096 16384 81920")...)
}

// SocketBytes is what one socket can hold that nobody reads: the kernel's default
// of net.core.wmem_default, which a program can't raise for its own.
const SocketBytes = 212992

// limitIPC bounds memory that no process has mapped and no rlimit counts. A
// namespace's own root may set these since Linux 6.9. See ipc_namespaces(7).
func limitIPC(l Limits) []Step {
	var steps []Step
	for _, s := range []struct{ name, value string }{
		{"shmmax", fmt.Sprint(l.WorkspaceBytes)},
		{"shmall", fmt.Sprint(l.WorkspaceBytes / 4096)}, // pages
		{"shmmni", "64"},
		{"msgmni", "64"},
		{"msgmnb", "16384"},
		{"sem", "250 4096 32 64"},
	} {
		steps = append(steps, writeFile(Int(unix.AT_FDCWD), "/proc/sys/kernel/"+s.name, s.value)...)
	}
	return steps
}

// queues is where the message queues of the ipc namespace are files. Landlock denies
// those that it finds below no directory, and mq_open(2) opens one by no path.
const queues = "/dev/mqueue"

// ---- single calls ---------------------------------------------------------------

func open(as FD, dir Arg, path string, flags int64) Step {
	return Step{Name: "openat " + path, Nr: unix.SYS_OPENAT, Bind: string(as),
		Args: []Arg{dir, Text(path), Int(flags | unix.O_CLOEXEC), Int(0)}}
}

func closeFD(fd FD) Step { return Step{Name: "close", Nr: unix.SYS_CLOSE, Args: []Arg{fd}} }

// writeFile writes to a file of the kernel's, which takes it whole.
func writeFile(dir Arg, path, text string) []Step {
	return []Step{
		open(fdFile, dir, path, unix.O_WRONLY),
		{Name: "write " + path, Nr: unix.SYS_WRITE, Want: int64(len(text)),
			Args: []Arg{fdFile, Bytes{Data: []byte(text)}, Int(len(text))}},
		closeFD(fdFile),
	}
}

func mount(source, target, kind string, flags int64, options string) Step {
	return Step{Name: "mount " + target, Nr: unix.SYS_MOUNT,
		Args: []Arg{Text(source), Text(target), Text(kind), Int(flags), Text(options)}}
}

func tmpfsOptions(size int64) string {
	return fmt.Sprintf("mode=1777,size=%d,nr_inodes=%d", size, nrInodes)
}

// openTree is a second mount of what is at a path, in no directory tree. Linux 5.2.
func openTree(as FD, path string) Step {
	return Step{Name: "open_tree " + path, Nr: unix.SYS_OPEN_TREE, Bind: string(as),
		Args: []Arg{Int(unix.AT_FDCWD), Text(path), Int(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE)}}
}

// setAttributes passes a struct mount_attr: set, clear, propagation, user namespace.
// Linux 5.12.
func setAttributes(path string, set uint64) Step {
	attr := make([]byte, 32)
	binary.NativeEndian.PutUint64(attr, set)
	return Step{Name: "mount_setattr " + path, Nr: unix.SYS_MOUNT_SETATTR,
		Args: []Arg{Int(unix.AT_FDCWD), Text(path), Int(0), Bytes{Data: attr}, Int(len(attr))}}
}
