package forkserver

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// children are the processes that this package started and will wait for. As
// the first process of a container the server also inherits orphans, for which
// nobody waits.
var children = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

func startChild(cmd *exec.Cmd) error {
	children.Lock()
	defer children.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	children.pids[cmd.Process.Pid] = true
	return nil
}

func waitChild(cmd *exec.Cmd) error {
	err := cmd.Wait()
	children.Lock()
	defer children.Unlock()
	delete(children.pids, cmd.Process.Pid)
	return err
}

// ReapOrphans collects dead processes that are not our own, until ctx ends.
func ReapOrphans(ctx context.Context) {
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	defer signal.Stop(died)
	for {
		select {
		case <-ctx.Done():
			return
		case <-died:
			reapOrphans()
		}
	}
}

func reapOrphans() {
	children.Lock()
	defer children.Unlock()
	for _, pid := range zombies() {
		if !children.pids[pid] {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
}

// zombies lists our dead children. waitid(2) with WNOWAIT would show only one.
func zombies() []int {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var found []int
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if state, parent, err := sandbox.ProcessState(pid); err == nil && state == "Z" && parent == os.Getpid() {
			found = append(found, pid)
		}
	}
	return found
}
