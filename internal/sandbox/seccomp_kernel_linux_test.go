package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// underFilter names the variable that makes this test binary confine itself and
// execute its arguments: a filter can't be taken off again.
const underFilter = "MCP_EXEC_TEST_UNDER_FILTER"

func init() {
	if os.Getenv(underFilter) == "" {
		return
	}
	err := execUnderFilter(os.Getenv(underFilter), os.Args[1:])
	os.Stderr.WriteString(err.Error() + "\n")
	os.Exit(125)
}

// execUnderFilter leaves root first: a program never runs as root.
func execUnderFilter(config string, argv []string) error {
	var c FilterConfig
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	program, err := SeccompProgram(runtime.GOARCH, c)
	if err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobodyUID), syscall.Setuid(nobodyUID)); err != nil {
			return err
		}
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := installProgram(program); err != nil {
		return err
	}
	env := []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "PYTHONDONTWRITEBYTECODE=1"}
	return &os.PathError{Op: "exec", Path: argv[0], Err: syscall.Exec(argv[0], argv, env)}
}

const nobodyUID = 65534

func installProgram(program []byte) error {
	prog := unix.SockFprog{Len: uint16(len(program) / 8), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}

// testPython is the interpreter under test. There is no run without one, so a
// machine that has none fails.
func testPython(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("MCP_EXEC_PYTHON"), "/usr/bin/python3", "python3"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no python3: install it or name one in MCP_EXEC_PYTHON")
	return ""
}

// runFiltered runs Python in a directory that is writable for whoever it runs as.
func runFiltered(t *testing.T, c FilterConfig, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	config, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, append([]string{testPython(t)}, args...)...)
	cmd.Env = []string{underFilter + "=" + string(config)}
	cmd.Dir = openDir(t)
	cmd.WaitDelay = time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

// openDir is not t.TempDir, whose parents only the test's own user may enter.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "filter")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// rawCalls makes system calls by number and prints their errnos. No data
// structure of the C library stands between.
const rawCalls = `
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(args):
    ctypes.set_errno(0)
    failed = libc.syscall(*map(ctypes.c_long, args)) == -1
    return ctypes.get_errno() if failed else 0
print(json.dumps([call(args) for args in json.loads(sys.argv[1])]))
`

// The kernel must answer what the simulation says. Calls that are allowed fail
// otherwise or do nothing with these arguments, also where the filter is wrong.
var kernelCases = []filterCase{
	{"socket", with(unix.AF_INET, unix.SOCK_STREAM), retNoFamily},
	{"socket", with(unix.AF_UNIX, unix.SOCK_DGRAM), retNoFamily},
	{"socket", with(upperBit|unix.AF_NETLINK, unix.SOCK_RAW), retNoFamily},
	{"socket", with(unix.AF_VSOCK, unix.SOCK_STREAM), retNoFamily},
	{"socketpair", with(unix.AF_UNIX, unix.SOCK_DGRAM), retNoSocketType},
	{"clone", with(upperBit|unix.CLONE_NEWUSER|unix.CLONE_PARENT, 0, 0, 0, 0), retEPERM},
	{"clone3", with(0, 0), retENOSYS},
	{"unshare", with(unix.CLONE_NEWUSER), retEPERM},
	{"setns", with(minus(1), 0), retEPERM},
	{"mount", with(0, 0, 0, 0, 0), retEPERM},
	{"open_tree", with(minus(1), 0, 0), retEPERM},
	{"io_uring_setup", with(0, 0), retEPERM},
	{"ptrace", with(unix.PTRACE_TRACEME), retEPERM},
	{"process_vm_readv", with(1, 0, 0, 0, 0, 0), retEPERM},
	{"pidfd_getfd", with(minus(1), 0, 0), retEPERM},
	{"bpf", with(0, 0, 0), retEPERM},
	{"perf_event_open", with(0, 0, 0, 0, 0), retEPERM},
	{"userfaultfd", with(0), retEPERM},
	{"keyctl", with(0, 0, 0, 0, 0), retEPERM},
	{"memfd_create", with(0, 0), retEPERM},
	{"inotify_init1", with(0), retEPERM},
	{"shmget", with(0, 4096, unix.IPC_CREAT), retEPERM},
	{"personality", with(0x0040000), retEPERM},
	{"ioctl", with(0, upperBit|unix.TIOCSTI, 0), retEPERM},
	{"fcntl", with(0, upperBit|unix.F_SETOWN, 1), retEPERM},
	{"prlimit64", with(1, unix.RLIMIT_NOFILE, 0, 0), retEPERM},
	{"setpriority", with(unix.PRIO_PROCESS, 1, 19), retEPERM},
	{"sched_setaffinity", with(1, 0, 0), retEPERM},
	{"prctl", with(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0), retEPERM},
	{"prctl", with(unix.PR_SET_SECCOMP, 2, 0, 0, 0), retEINVAL},
	{"seccomp", with(unix.SECCOMP_SET_MODE_FILTER, 0, 0), retENOSYS},
	{"setxattr", with(0, 0, 0, 0, 0), retEOPNOTSUPP},
	{"kill", with(minus(1), 0), retEPERM},
	{"kill", with(1, 0), retEPERM},
	{"kill", with(upperBit|1, 0), retEPERM},
	{"tgkill", with(1, 1, 0), retEPERM},
	{"tkill", with(1, 0), retENOSYS},
	{"kill", with(0, 0), retAllow},
	{"prctl", with(unix.PR_GET_DUMPABLE, 0, 0, 0, 0), retAllow},
	{"getpid", nil, retAllow},
	{"prlimit64", with(0, unix.RLIMIT_NOFILE, 0, 0), retAllow},
	{"close_range", with(900, 1000, 0), retAllow},
}

func TestFilterInTheKernel(t *testing.T) {
	s := simulate(t, runtime.GOARCH, noScope)
	var calls [][]int64
	for _, tt := range kernelCases {
		call := []int64{int64(s.nrs[tt.call])}
		for _, arg := range tt.args {
			call = append(call, int64(arg))
		}
		calls = append(calls, call)
		if v, _ := s.call(t, tt.call, tt.args...); v != tt.want {
			t.Errorf("simulated %s(%#x) = %#x, want %#x", tt.call, tt.args, v, tt.want)
		}
	}
	for i, errno := range errnos(t, append(calls, []int64{x32Bit | 39}, []int64{9999})) {
		name, want := "unknown number", unix.ENOSYS
		if i < len(kernelCases) {
			name, want = kernelCases[i].call, kernelErrno(kernelCases[i].want)
		}
		if errno != want {
			t.Errorf("call %d, %s: errno %d, want %d", i, name, errno, want)
		}
	}
}

func kernelErrno(v verdict) unix.Errno {
	if v == retAllow {
		return 0
	}
	return unix.Errno(v &^ retErrno)
}

func errnos(t *testing.T, calls [][]int64) []unix.Errno {
	t.Helper()
	list, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := runFiltered(t, noScope, "-c", rawCalls, string(list))
	if err != nil {
		t.Fatalf("python: %v\n%s", err, stderr)
	}
	var got []unix.Errno
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got) != len(calls) {
		t.Fatalf("python printed %q for %d calls: %v", stdout, len(calls), err)
	}
	return got
}

// int80 calls getpid by the number that it has on i386.
const int80 = `
import ctypes, mmap
code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
print("before", flush=True)
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print("after")
`

func TestFilterKillsForeignArchitecture(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("int 0x80 is an instruction of amd64; the simulation covers the rest")
	}
	stdout, stderr, err := runFiltered(t, ownSpaces, "-c", int80)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGSYS || stdout != "before\n" {
		t.Errorf("int 0x80: %v, stdout %q, stderr %q; want a death by SIGSYS", err, stdout, stderr)
	}
}

// The programs use the standard library as callers do, and print "ok" last.
func TestFilterRunsPython(t *testing.T) {
	tests := []struct {
		name, script string
		c            FilterConfig
	}{
		{"strict", "seccomp_stdlib.py", strictFilter},
		{"no signal scope", "seccomp_stdlib.py", noScope},
		{"own namespaces", "seccomp_stdlib.py", ownSpaces},
		{"own namespaces, sockets", "seccomp_sockets.py", ownSpaces},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, err := runFiltered(t, tt.c, readableCopy(t, tt.script))
			if err != nil || stdout != "ok\n" || stderr != "" {
				t.Errorf("%s: %v\nstdout %q\nstderr %s", tt.script, err, stdout, stderr)
			}
		})
	}
}

// readableCopy: the repository may lie where only its owner can go.
func readableCopy(t *testing.T, script string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(openDir(t), "main.py")
	if err := os.WriteFile(path, source, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Kill(2) takes the id of any thread for that of its process. A caller that
// protects only the process ids protects nothing: the comment on ProtectedPIDs.
func TestKillTakesThreadIDs(t *testing.T) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tasks, func(d os.DirEntry) bool { return d.Name() != strconv.Itoa(os.Getpid()) })
	if i < 0 {
		t.Fatal("the Go runtime has only one thread")
	}
	tid, err := strconv.Atoi(tasks[i].Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(tid, 0); err != nil {
		t.Errorf("kill(%d, 0), a thread of this process: %v, want nil; the comment is out of date", tid, err)
	}
}
