package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func atOnce(n int) func(*Config) { return func(c *Config) { c.Concurrency = n } }

// Runs overlap, and each gets its own stdin, output and exit status.
func TestRunsOverlap(t *testing.T) {
	const width = 3
	p := newTestPool(t, "namespaces", atOnce(width))
	const code = "import sys, time\nname = input()\ntime.sleep(2)\nprint(name)\nprint(name, file=sys.stderr)\nsys.exit(int(name))"
	var runs sync.WaitGroup
	for n := range width {
		runs.Go(func() {
			name := fmt.Sprint(10 + n)
			res, err := p.Run(context.Background(), sandbox.Request{Code: code, Stdin: name + "\n", Timeout: 30 * time.Second})
			if err != nil || res.Stdout != name+"\n" || res.Stderr != name+"\n" || res.ExitCode != 10+n {
				t.Errorf("run %s = %+v, %v", name, res, err)
			}
		})
	}
	waitFor(t, func() bool { return p.active.Load() == width })
	runs.Wait()
}

// Many callers at once, of both levels: as many run as may, never more, and all
// get their own answer.
func TestManyCallers(t *testing.T) {
	const width = 2
	p := newTestPool(t, "namespaces", atOnce(width))
	var callers sync.WaitGroup
	for n := range 12 {
		callers.Go(func() {
			code := fmt.Sprintf("print(%d)", n)
			if n%3 == 0 {
				code = fmt.Sprintf("import numpy\nprint(numpy.int64(%d))", n)
			}
			if got := call(t, p, code); got.Stdout != fmt.Sprintln(n) {
				t.Errorf("call %d = %+v", n, got)
			}
			if now := p.active.Load(); now > width {
				t.Errorf("%d programs run at once", now)
			}
		})
	}
	callers.Wait()
	if left := p.calls.Load(); left != 0 {
		t.Errorf("%d calls are still counted", left)
	}
}

// The queue counts calls that wait, not those that run, and who leaves it makes room.
func TestQueueOfSeveral(t *testing.T) {
	p := newTestPool(t, "namespaces", func(c *Config) { c.Concurrency, c.Queue = 2, 1 })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	running := []chan error{begin(ctx, p), begin(ctx, p)}
	waitFor(t, func() bool { return p.active.Load() == 2 })
	for range 2 {
		waiting, leave := context.WithCancel(ctx)
		third := begin(waiting, p)
		waitFor(t, func() bool { return p.calls.Load() == 3 })
		isBusy(t, p)
		leave()
		if err := <-third; !errors.Is(err, context.Canceled) {
			t.Errorf("a call that left the queue = %v", err)
		}
	}
	cancel()
	for _, done := range running {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call = %v", err)
		}
	}
}

// A queued call begins as soon as one of the running ends, whichever it is.
func TestQueuedCallTakesAnyPlace(t *testing.T) {
	p := newTestPool(t, "namespaces", atOnce(2))
	long, stopLong := context.WithCancel(context.Background())
	defer stopLong()
	short, stopShort := context.WithCancel(context.Background())
	defer stopShort()
	lasting := begin(long, p)
	waitFor(t, func() bool { return p.active.Load() == 1 })
	ending := begin(short, p)
	waitFor(t, func() bool { return p.active.Load() == 2 })
	answer := make(chan sandbox.Result, 1)
	go func() { answer <- call(t, p, "print(5)") }()
	waitFor(t, func() bool { return p.calls.Load() == 3 })
	stopShort()
	<-ending
	if got := <-answer; got.Stdout != "5\n" {
		t.Errorf("the queued call = %+v", got)
	}
	select {
	case err := <-lasting:
		t.Errorf("the other run has ended: %v", err)
	default:
	}
}

// Two runs at once share no namespace but that of the host's name.
func TestRunsHaveTheirOwnNamespaces(t *testing.T) {
	const width = 2
	p := newTestPool(t, "namespaces", atOnce(width))
	const code = "import os, time\nfor name in 'user pid ipc net mnt cgroup'.split():\n" +
		"    print(os.readlink('/proc/self/ns/' + name))\ntime.sleep(2)"
	var mu sync.Mutex
	seen := map[string]int{}
	var runs sync.WaitGroup
	for range width {
		runs.Go(func() {
			out := call(t, p, code).Stdout
			mu.Lock()
			defer mu.Unlock()
			for _, name := range strings.Fields(out) {
				seen[name]++
			}
		})
	}
	waitFor(t, func() bool { return p.active.Load() == width })
	runs.Wait()
	if len(seen) != 6*width {
		t.Errorf("namespaces and how many runs have seen each: %v, want %d different ones", seen, 6*width)
	}
}

// Nothing of a slot is used again, in namespaces. In landlock its reaper lives on,
// which no program can touch.
func TestSlotIsUsedOnce(t *testing.T) {
	inPostures(t, nil, func(t *testing.T, p *Pool) {
		type content struct {
			reaper *forkserver.Process
			worker *forkserver.Worker
			page   *forkserver.Page
		}
		seen := map[*slot]content{}
		for range 3 * p.slots() {
			s := <-p.base.ready
			now, before := content{s.reaper, s.worker, s.page}, seen[s]
			if s.worker == before.worker || s.page == before.page {
				t.Errorf("slot %d offers again what a run has used", s.number)
			}
			if before.reaper != nil && (s.reaper == before.reaper) == p.posture.Namespaces {
				t.Errorf("slot %d: same reaper for two runs: %t", s.number, s.reaper == before.reaper)
			}
			seen[s] = now
			if _, err := s.execute(context.Background(), sandbox.Request{Code: "1", Timeout: 10 * time.Second}, 100); err != nil {
				t.Errorf("execute: %v", err)
			}
			s.returned <- func() {}
		}
		if len(seen) != p.slots() {
			t.Errorf("%d slots were offered, want %d", len(seen), p.slots())
		}
	})
}

// What a run leaves behind no later one meets, in any slot.
func TestNothingIsLeftForTheNextRun(t *testing.T) {
	inPostures(t, nil, func(t *testing.T, p *Pool) {
		call(t, p, "import os, subprocess\nopen('/tmp/left', 'w').write('x')\nopen('/dev/shm/left', 'w').write('x')\nopen('left', 'w')\n"+
			"os.environ['LEFT'] = 'x'\nsubprocess.Popen(['sleep', '60'], start_new_session=True)")
		const look = "import os\nprint([n for d in ('/tmp', '/dev/shm', '.') for n in os.listdir(d) if 'left' in n], os.environ.get('LEFT'))\n" +
			"print([p for p in os.listdir('/proc') if p.isdigit() and b'sleep' in open(f'/proc/{p}/cmdline', 'rb').read()])"
		for range p.slots() + 1 {
			if got := call(t, p, look); got.Stdout != "[] None\n[]\n" {
				t.Errorf("a later run finds %+v", got)
			}
		}
	})
}
