package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// missingNamespaces does what a sandbox of namespaces needs most: mount a proc as
// the root of new ones. A look at settings would not do: a profile may allow what
// they forbid, or allow the namespaces and deny the mount.
func missingNamespaces() error {
	cmd := exec.Command("mount", "-t", "proc", "proc", "/proc")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mount proc in namespaces of its own: %w %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
