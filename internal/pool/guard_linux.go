package pool

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func (p *Pool) protect(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.guarded[pid] = true
}

func (p *Pool) unprotect(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.guarded, pid)
}

// protected are the pids that a worker's filter keeps signals from, sorted; nil
// where Landlock does it.
func (p *Pool) protected() []int {
	if p.posture.Enclosed() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pids := ownThreads()
	for pid := range p.guarded {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}

// filter is the seccomp program of a worker.
func (p *Pool) filter(guarded []int) ([]byte, error) {
	key := fmt.Sprint(guarded)
	p.mu.Lock()
	defer p.mu.Unlock()
	if program, ok := p.filters[key]; ok {
		return program, nil
	}
	program, err := sandbox.SeccompProgram(runtime.GOARCH, p.posture.Filter(guarded))
	if err != nil {
		return nil, &sandbox.StepError{Step: "seccomp program", Err: err}
	}
	p.filters = map[string][]byte{key: program}
	return program, nil
}

// ownThreads are further ids that kill(2) takes for this process: its threads
// (any of them stands for the whole process) and its process group.
func ownThreads() []int {
	var ids []int
	if group := unix.Getpgrp(); group > 0 { // 0: outside this pid namespace, out of reach
		ids = append(ids, group)
	}
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		if id, err := strconv.Atoi(task.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// killUID ends every process of an uid that is one slot's alone, until a look
// finds none.
func killUID(uid int) error {
	deadline := time.Now().Add(killWait)
	for time.Now().Before(deadline) {
		pids := processesOf(uid)
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	return &sandbox.StepError{Step: "kill", Err: fmt.Errorf("processes of uid %d are still there", uid)}
}

// processesOf lists the processes of an uid that are not dead with all their
// threads.
func processesOf(uid int) []int {
	var found []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		var st unix.Stat_t
		if unix.Stat(dir, &st) != nil || int(st.Uid) != uid {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		state, _, err := sandbox.ProcessState(pid)
		if err == nil && (state != "Z" || len(tasks(pid)) > 1) {
			found = append(found, pid)
		}
	}
	return found
}
