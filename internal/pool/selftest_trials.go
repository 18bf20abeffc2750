package pool

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// trial is a program that meets a limit, or leaves something behind, and what
// must come of it. They take a second or two in all, so doctor runs them, not
// every start. What they read from stdin are the limits in force.
type trial struct {
	protection, attempt string
	code                string
	timeout             time.Duration
	output              int // bytes, the cap
	met                 func(sandbox.Result) bool
}

const (
	trialWait   = 60 * time.Second
	trialOutput = 64 << 10
	shortWait   = 500 * time.Millisecond // of the run that must be timed out
)

// trialPrelude comes before each.
const trialPrelude = `import ctypes, os, resource, sys, time
MEMORY, PROCESSES, FILE = map(int, sys.stdin.readline().split())
LIBC, KEY = ctypes.CDLL(None), 0x6d637065
`

// leave is what a run must not leave behind: a daemon, a file in each directory that can
// be written to, and System V objects, where they are not refused.
const leave = `
LIBC.shmget(KEY, 4096, 0o1600)
LIBC.msgget(KEY, 0o1600)
LIBC.semget(KEY, 1, 0o1600)
def write(name):
    for directory in (os.environ["TMPDIR"], "/tmp", "/dev/shm"):
        try:
            open(os.path.join(directory, name), "w").close()
        except OSError:
            pass
if PROCESSES > 2 and os.fork() == 0:
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    time.sleep(0.3)
    while True:
        write("mcp-exec-daemon")
        time.sleep(0.01)
write("mcp-exec-left")
`

var trials = []trial{
	{protection: "wall clock", attempt: "never end, with a daemon that writes files", timeout: shortWait,
		code: leave + "time.sleep(600)\n", met: func(r sandbox.Result) bool { return r.TimedOut && r.Duration < 10*time.Second }},
	{protection: "CPU", attempt: "spin for more than a lowered limit",
		code: `
hard = 1 + int(time.process_time())
resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
while True:
    pass
`, met: killed},
	{protection: "memory", attempt: "allocate the limit at once", code: `
try:
    bytearray(MEMORY + (64 << 20))
except MemoryError:
    print("MemoryError")
`, met: prints("MemoryError")},
	{protection: "memory", attempt: "fill shared memory, which no rlimit counts", code: `
import mmap
shared = mmap.mmap(-1, MEMORY)
for offset in range(0, MEMORY, mmap.PAGESIZE):
    shared[offset] = 1
time.sleep(10)
`, met: notes("memory_limit")},
	{protection: "processes", attempt: "fork until it is refused", code: `
try:
    for _ in range(2 * PROCESSES + 16):
        if os.fork() == 0:
            time.sleep(600)
    time.sleep(5)
except BlockingIOError:
    print("EAGAIN")
`, met: either(prints("EAGAIN"), either(notes("process_limit"), notes("memory_limit")))}, // a small memory comes first
	{protection: "file size", attempt: "make a larger file", code: `
with open("large", "wb") as file:
    try:
        os.ftruncate(file.fileno(), FILE + 1)
    except OSError as error:
        print(os.strerror(error.errno))
`, met: prints("File too large")},
	{protection: "space for files", attempt: "write files until there is no space", code: `
block = bytes(1 << 20)
try:
    for number in range((MEMORY + FILE) // len(block) + 64):
        with open(f"file{number}", "wb", buffering=0) as file:
            while file.tell() < len(block):
                file.write(block[file.tell():])
    sys.exit("nothing stopped it")
except OSError as error:
    print(os.strerror(error.errno))
`, met: either(prints("No space left on device"), notes("memory_limit"))},
	{protection: "open files", attempt: "open files until it is refused", code: `
kept = []
try:
    while len(kept) < 100_000:
        kept.append(open("/dev/null"))
except OSError as error:
    kept.clear()
    print(os.strerror(error.errno))
`, met: prints("Too many open files")},
	{protection: "output", attempt: "print more than the cap", output: 4096, code: `
sys.stdout.write("o" * 1_000_000)
sys.stderr.write("e" * 1_000_000)
`, met: func(r sandbox.Result) bool { return r.Truncated && len(r.Stdout)+len(r.Stderr) <= 4096 }},
	{protection: "nothing outlives a run", attempt: "leave a daemon that writes files",
		code: leave + "print('left')\n", met: prints("left")},
	{protection: "nothing outlives a run", attempt: "find what these left", code: `
time.sleep(0.5)
own = os.path.basename(os.getcwd())
for directory in (os.environ["TMPDIR"], "/tmp", "/dev/shm"):
    try:
        print(*[name for name in os.listdir(directory) if name != own])
    except OSError:
        pass
print("looked")
`, met: func(r sandbox.Result) bool { return strings.TrimSpace(r.Stdout) == "looked" && r.ExitCode == 0 }},
	{protection: "nothing shared between runs", attempt: "find System V objects that an earlier one made", code: `
if -1 == LIBC.shmget(KEY, 0, 0) == LIBC.msgget(KEY, 0) == LIBC.semget(KEY, 0, 0):
    print("none")
`, met: prints("none")},
	{protection: "server unharmed", attempt: "run a program after all this", code: `
print(6 * 7)
`, met: prints("42")},
}

func prints(want string) func(sandbox.Result) bool {
	return func(r sandbox.Result) bool { return r.Stdout == want+"\n" && r.ExitCode == 0 }
}

func notes(code string) func(sandbox.Result) bool {
	return func(r sandbox.Result) bool { return strings.HasPrefix(r.Note, code+":") }
}

func either(one, other func(sandbox.Result) bool) func(sandbox.Result) bool {
	return func(r sandbox.Result) bool { return one(r) || other(r) }
}

// killed by the kernel: 128+SIGKILL, or +SIGXCPU.
func killed(r sandbox.Result) bool {
	return (r.ExitCode == 128+9 || r.ExitCode == 128+24) && !r.TimedOut
}

func (t trial) request(l sandbox.Limits) (req sandbox.Request, outputCap int) {
	req = sandbox.Request{Code: trialPrelude + t.code, Timeout: trialWait,
		Stdin: fmt.Sprintln(l.MemoryBytes, l.Processes, l.WorkspaceBytes)}
	if t.timeout > 0 {
		req.Timeout = t.timeout
	}
	outputCap = trialOutput
	if t.output > 0 {
		outputCap = t.output
	}
	return req, outputCap
}

// outcome of a trial, as an attempt: met is what the self-test calls refused.
func (t trial) outcome(r sandbox.Result, err error) Attempt {
	a := Attempt{Protection: t.protection, Attempt: t.attempt}
	if err != nil {
		a.Detail = clean(err.Error(), maxText)
		return a
	}
	a.OK, a.Detail = t.met(r), brief(r)
	return a
}

// brief says how a run ended, in a few words.
func brief(r sandbox.Result) string {
	switch {
	case r.TimedOut:
		return fmt.Sprintf("timed out after %d ms", r.Duration.Milliseconds())
	case r.Truncated:
		return fmt.Sprintf("cut to %d bytes", len(r.Stdout)+len(r.Stderr))
	case r.Note != "":
		return clean(r.Note, maxText)
	case r.ExitCode != 0:
		return clean(fmt.Sprintf("exit %d %s", r.ExitCode, lastLine(r.Stderr)), maxText)
	}
	return lastLine(r.Stdout)
}
