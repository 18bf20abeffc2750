package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mountPoint is where the new root is put together; it is covered for a moment only.
const mountPoint = "/tmp"

// userLimits bound what a namespace's processes take of budgets that the kernel
// keeps for each uid of the host, which may be the user's own. See namespaces(7).
var userLimits = map[string]string{"max_inotify_instances": "64", "max_inotify_watches": "16384"}

// OpenTree makes a second mount of what is at a path, read-only, in no directory
// tree. A parent that is root does it before the namespace exists, in which its
// home can't be reached.
func OpenTree(e Entry) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, e.Path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, &StepError{Step: "open_tree", Path: e.Path, Err: err}
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if e.Dir {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		unix.Close(fd)
		return -1, &StepError{Step: "mount_setattr", Path: e.Path, Err: err}
	}
	return fd, nil
}

// enterRoot builds the minimal root and makes it this process's. The order matters:
// a proc can only be mounted while another one is fully visible.
func enterRoot(spec InitSpec) error {
	trees, err := spec.trees()
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return &StepError{Step: "mount MS_PRIVATE", Path: "/", Err: err}
	}
	if err := unix.Mount("tmpfs", mountPoint, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=1m"); err != nil {
		return &StepError{Step: "mount tmpfs", Path: mountPoint, Err: err}
	}
	if err := fillRoot(spec.Root, trees); err != nil {
		return err
	}
	if err := unix.Mount("proc", mountPoint+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return &StepError{Step: "mount proc", Err: err}
	}
	if err := pivot(); err != nil {
		return err
	}
	for name, value := range userLimits {
		path := "/proc/sys/user/" + name
		if err := os.WriteFile(path, []byte(value), 0); err != nil {
			return &StepError{Step: "write", Path: path, Err: err}
		}
	}
	// For the looks: a container's seccomp profile may refuse it, and no promise needs it.
	_ = unix.Sethostname([]byte("sandbox"))
	return nil
}

// trees opens what the parent has not handed over.
func (s InitSpec) trees() (map[string]int, error) {
	fds := map[string]int{}
	next := TreeFD
	for _, e := range s.Root {
		if e.Link != "" {
			continue
		}
		if s.Posture.OpenTrees {
			fds[e.Path] = next
			next++
			continue
		}
		fd, err := OpenTree(e)
		if err != nil {
			return nil, err
		}
		fds[e.Path] = fd
	}
	return fds, nil
}

func fillRoot(root []Entry, trees map[string]int) error {
	made := map[string]bool{}
	for _, dir := range []string{"/proc", "/tmp", "/dev/shm", queues, "/etc"} {
		if err := makeParents(Entry{Path: dir, Dir: true}, made); err != nil {
			return err
		}
	}
	for _, e := range append(root, rootLinks...) {
		if err := place(e, trees, made); err != nil {
			return err
		}
	}
	for path, text := range etcFiles {
		if err := os.WriteFile(mountPoint+path, []byte(text), 0o644); err != nil {
			return &StepError{Step: "write", Path: path, Err: err}
		}
	}
	return nil
}

func place(e Entry, trees map[string]int, made map[string]bool) error {
	at := mountPoint + e.Path
	if e.Link != "" {
		e.Dir = false
	}
	if err := makeParents(e, made); err != nil {
		return err
	}
	switch {
	case e.Link != "":
		if err := os.Symlink(e.Link, at); err != nil {
			return &StepError{Step: "symlink", Path: e.Path, Err: err}
		}
		return nil
	case !e.Dir:
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			return &StepError{Step: "create", Path: e.Path, Err: err}
		}
	}
	fd := trees[e.Path]
	defer unix.Close(fd)
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return &StepError{Step: "move_mount", Path: e.Path, Err: err}
	}
	return nil
}

func makeParents(e Entry, made map[string]bool) error {
	for _, dir := range parents(e, made) {
		if err := os.Mkdir(filepath.Join(mountPoint, dir), 0o755); err != nil {
			return &StepError{Step: "mkdir", Path: dir, Err: err}
		}
	}
	return nil
}

// pivot leaves the old root behind, and makes the new one read-only.
func pivot() error {
	if err := unix.Chdir(mountPoint); err != nil {
		return &StepError{Step: "chdir", Path: mountPoint, Err: err}
	}
	// With the same directory twice the old root ends up on top of the new one.
	if err := unix.PivotRoot(".", "."); err != nil {
		return &StepError{Step: "pivot_root", Err: err}
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return &StepError{Step: "umount2", Path: "/", Err: err}
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &attr); err != nil {
		return &StepError{Step: "mount_setattr", Path: "/", Err: err}
	}
	return nil
}

// CloneFlags are the namespaces in which init begins, with Posture.Namespaces.
const CloneFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP
