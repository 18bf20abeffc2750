package sandbox

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// KeepDescriptors lets no process that this one starts inherit what it has itself
// inherited from whoever started it: a terminal, an editor's files, a lock.
func KeepDescriptors() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return &StepError{Step: "close-on-exec", Err: err}
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		unix.CloseOnExec(fd)
	}
	return nil
}
