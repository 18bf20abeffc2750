package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs the program and ends as it ended.
func (r run) Run() error {
	c, err := r.check()
	if err != nil {
		return usageError{err}
	}
	c.concurrency, c.queue = 1, 0 // whatever a server is told: there is one program
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	req, err := r.request(c, end)
	if err != nil {
		return usageError{err}
	}
	endOnSignal(end)
	go endWithReader(ctx, end)
	p, err := r.start(ctx, c, newLog(slog.LevelWarn))
	if err != nil {
		return because(ctx, err)
	}
	defer p.Close()
	// In the background of a terminal the program has no input; without this we would
	// be stopped for reading it ahead. Nor may Ctrl-Z stop the clock and the watchdog of a
	// program that goes on. Only now, since processes inherit it.
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGTSTP)
	res, err := p.Run(ctx, req)
	if err = because(ctx, err); err != nil {
		return err
	}
	if err := r.print(res); err != nil {
		return err
	}
	return statusOf(res)
}

// because prefers what ended the run to what came of that.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// endOnSignal ends the run at the first signal; the second has its plain effect. One
// that is ignored, as SIGHUP under nohup(1), stays so.
func endOnSignal(end context.CancelCauseFunc) {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		s := <-signals
		signal.Stop(signals)
		end(exitStatus(exitSignal + int(s.(syscall.Signal))))
	}()
}

// farewell is what a program gets for its end when the reader of our stdout is gone.
// It may have written its last line, and then has a status of its own to tell.
const farewell = 500 * time.Millisecond

// endWithReader ends the run when nobody can read our stdout any more, also while
// the program writes nothing. It never returns where stdout is a file.
func endWithReader(ctx context.Context, end context.CancelCauseFunc) {
	stdout := []unix.PollFd{{Fd: int32(unix.Stdout)}}
	for {
		if _, err := unix.Poll(stdout, -1); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	select {
	case <-time.After(farewell):
		end(ended(syscall.EPIPE))
	case <-ctx.Done():
	}
}
