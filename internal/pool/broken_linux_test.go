package pool

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// A reaper that does not answer is no reason to leave a run alive.
func TestLastResort(t *testing.T) {
	inPostures(t, nil, func(t *testing.T, p *Pool) {
		s := taken(t, p)
		worker := s.worker.PID
		if err := unix.Kill(s.reaper.PID, unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		const code = "import subprocess, time\nsubprocess.Popen(['sleep', '60'])\nprint('x')\ntime.sleep(60)"
		res, err := s.execute(context.Background(), sandbox.Request{Code: code, Timeout: time.Second}, 100)
		if err != nil || !res.TimedOut || res.Stdout != "x\n" {
			t.Errorf("a run under a stopped reaper = %+v, %v", res, err)
		}
		if !isDying(worker) {
			t.Error("the program is still there")
		}
		if p.posture.OwnUID {
			if left := processesOf(p.posture.UID(s.number)); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
		}
		s.returned <- func() { p.running.Release(1) }
		callsGoOn(t, p)
	})
}

// isDying: a killed process may take a moment to be gone.
func isDying(pid int) bool {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if state, _, err := sandbox.ProcessState(pid); err != nil || state == "Z" {
			return true
		}
	}
	return false
}

// callsGoOn: every slot of both levels has its turn, and none of the calls fails.
func callsGoOn(t *testing.T, p *Pool) {
	t.Helper()
	for range p.slots() + 1 {
		if got := call(t, p, "print(1)"); got.Stdout != "1\n" {
			t.Errorf("a later call = %+v", got)
		}
		if got := call(t, p, "import numpy\nprint(numpy.int64(2))"); got.Stdout != "2\n" {
			t.Errorf("a later call that needs numpy = %+v", got)
		}
	}
	if err := p.Err(); err != nil {
		t.Errorf("the pool has stopped: %v", err)
	}
}

func kill(t *testing.T, p *forkserver.Process) {
	t.Helper()
	if err := unix.Kill(p.PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// serverOf is the running fork server of a level.
func serverOf(t *testing.T, l *level) *forkserver.Process {
	t.Helper()
	l.want()
	server, err := l.forkServer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// A process that dies while nothing runs is replaced before anybody notices.
func TestKilledWhileIdle(t *testing.T) {
	inPostures(t, nil, func(t *testing.T, p *Pool) {
		for _, victim := range []func(*testing.T, *Pool) *forkserver.Process{readyReaper, dataServer, baseServer} {
			kill(t, victim(t, p))
			callsGoOn(t, p)
		}
	})
}

func baseServer(t *testing.T, p *Pool) *forkserver.Process { return serverOf(t, p.base) }
func dataServer(t *testing.T, p *Pool) *forkserver.Process { return serverOf(t, p.data) }

// readyReaper is that of a slot which is offered again right away.
func readyReaper(t *testing.T, p *Pool) *forkserver.Process {
	s := <-p.base.ready
	reaper := s.reaper
	go func() { p.base.ready <- s }() // as its own goroutine would
	return reaper
}

// A process that dies during a run costs at most that run.
func TestKilledDuringRun(t *testing.T) {
	inPostures(t, nil, func(t *testing.T, p *Pool) {
		reaper := func(s *slot) *forkserver.Process { return s.reaper }
		if survived, err := killedDuring(t, p, reaper); survived {
			t.Errorf("the run survived its reaper: %v", err)
		}
		callsGoOn(t, p)
		if survived, err := killedDuring(t, p, func(*slot) *forkserver.Process { return dataServer(t, p) }); !survived {
			t.Errorf("the run, which is not of that level, ended with it: %v", err)
		}
		callsGoOn(t, p)
		// The base is the end of a pid namespace, or only of whoever would fork.
		if survived, err := killedDuring(t, p, func(*slot) *forkserver.Process { return baseServer(t, p) }); survived == p.posture.Namespaces {
			t.Errorf("the run survived the first fork server: %t, %v", survived, err)
		}
		callsGoOn(t, p)
	})
}

// killedDuring reports whether a run outlives a process that is killed when it is
// too old to be begun again. One that does not is a failed step.
func killedDuring(t *testing.T, p *Pool, victim func(*slot) *forkserver.Process) (survived bool, err error) {
	t.Helper()
	s := taken(t, p)
	worker, target := s.worker.PID, victim(s)
	time.AfterFunc(youngRun*3/2, func() { _ = unix.Kill(target.PID, unix.SIGKILL) })
	res, err := s.execute(context.Background(), sandbox.Request{Code: "import time\ntime.sleep(3)\nprint(3)", Timeout: 10 * time.Second}, 100)
	survived = err == nil && res.Stdout == "3\n"
	if !survived && !errors.As(err, new(*sandbox.StepError)) {
		t.Errorf("the run = %+v, %v, want it to end by itself or a step that failed", res, err)
	}
	if !isDying(worker) {
		t.Error("the program is still there after its answer")
	}
	s.returned <- func() { p.running.Release(1) }
	return survived, err
}

// taken is the place of a run, as a call takes it: while it is held nothing is replaced.
func taken(t *testing.T, p *Pool) *slot {
	t.Helper()
	if err := p.running.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	return <-p.base.ready
}

// A run whose reaper dies at its beginning is begun again: the call does not fail.
func TestKilledAtBeginning(t *testing.T) {
	inPostures(t, nil, func(t *testing.T, p *Pool) {
		s := <-p.base.ready
		reaper := s.reaper
		go func() { p.base.ready <- s }()
		go func() {
			for p.active.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			_ = unix.Kill(reaper.PID, unix.SIGKILL)
		}()
		if got := call(t, p, "import time\ntime.sleep(1)\nprint(4)"); got.Stdout != "4\n" {
			t.Errorf("the call = %+v", got)
		}
		callsGoOn(t, p)
	})
}

// One broken run is nothing to those beside it.
func TestKilledBesideAnother(t *testing.T) {
	p := newTestPool(t, "namespaces", atOnce(2))
	beside := make(chan sandbox.Result, 1)
	go func() { beside <- call(t, p, "import time\ntime.sleep(4)\nprint(4)") }()
	waitFor(t, func() bool { return p.active.Load() == 1 })
	s := taken(t, p)
	reaper := s.reaper.PID
	time.AfterFunc(youngRun*3/2, func() { _ = unix.Kill(reaper, unix.SIGKILL) })
	if res, err := s.execute(context.Background(), sandbox.Request{Code: "import time\ntime.sleep(30)", Timeout: 40 * time.Second}, 100); err == nil {
		t.Errorf("the run whose reaper was killed = %+v", res)
	}
	s.returned <- func() { p.running.Release(1) }
	if got := <-beside; got.Stdout != "4\n" {
		t.Errorf("the run beside it = %+v", got)
	}
	callsGoOn(t, p)
}

// A pool that is closed leaves no process, no descriptor and no goroutine, also not
// of what broke.
func TestCloseLeavesNothing(t *testing.T) {
	asSubreaper(t)
	for _, isolation := range []string{"namespaces", "landlock"} {
		t.Run(isolation, func(t *testing.T) {
			var descriptors, goroutines int
			for n := range 2 {
				p := newTestPool(t, isolation, nil)
				for _, victim := range []*forkserver.Process{dataServer(t, p), readyReaper(t, p), baseServer(t, p)} {
					kill(t, victim)
				}
				callsGoOn(t, p)
				p.Close()
				waitFor(t, func() bool { return living(descendants(os.Getpid())) == 0 })
				if n == 0 {
					time.Sleep(time.Second) // what still ends in the background
					descriptors, goroutines = openDescriptors(t), runtime.NumGoroutine()
				}
			}
			waitFor(t, func() bool { return openDescriptors(t) <= descriptors && runtime.NumGoroutine() <= goroutines })
		})
	}
}

// asSubreaper has orphans come to this process, where they are seen.
func asSubreaper(t *testing.T) {
	t.Helper()
	set := func(on uintptr) {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, on, 0, 0, 0); err != nil {
			t.Errorf("prctl PR_SET_CHILD_SUBREAPER: %v", err)
		}
	}
	set(1)
	t.Cleanup(func() { set(0) })
}

// living leaves out those that are dead and wait for somebody to ask.
func living(pids []int) int {
	n := 0
	for _, pid := range pids {
		if state, _, err := sandbox.ProcessState(pid); err == nil && state != "Z" {
			n++
		}
	}
	return n
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
