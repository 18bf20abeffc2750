package sandbox

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

var (
	strictFilter = FilterConfig{}
	ownSpaces    = FilterConfig{OwnNetwork: true, OwnIPC: true, OwnMounts: true, UnixSockets: true}
	noScope      = FilterConfig{ProtectedPIDs: []int{1, 7, 4321}}

	bothArches = []string{"amd64", "arm64"}
	configs    = map[string]FilterConfig{"strict": strictFilter, "own spaces": ownSpaces, "no scope": noScope}
)

const upperBit = 1 << 40 // a bit that the kernel drops from a 32-bit argument

// simulator runs the bytes that the kernel would get, not what they were made
// from.
type simulator struct {
	vm   *bpf.VM
	info *arch.Info
	nrs  map[string]int
}

func simulate(t testing.TB, archName string, c FilterConfig) simulator {
	t.Helper()
	program, err := SeccompProgram(archName, c)
	if err != nil {
		t.Fatalf("SeccompProgram(%q, %+v): %v", archName, c, err)
	}
	vm, err := bpf.NewVM(decodeFilter(t, program))
	if err != nil {
		t.Fatalf("NewVM: %v", err)
	}
	info, err := archInfo(archName)
	if err != nil {
		t.Fatal(err)
	}
	return simulator{vm, info, callNumbers(info)}
}

func decodeFilter(t testing.TB, program []byte) []bpf.Instruction {
	t.Helper()
	var raw []bpf.RawInstruction
	for b := range slices.Chunk(program, 8) {
		raw = append(raw, bpf.RawInstruction{Op: binary.LittleEndian.Uint16(b), Jt: b[2], Jf: b[3], K: binary.LittleEndian.Uint32(b[4:])})
	}
	insns, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("filter has instructions that can't be disassembled")
	}
	return insns
}

// run lays out struct seccomp_data. The VM loads words as the network does,
// the kernel as the machine does: each word is written for the VM, the order of
// the two words of an argument stays that of a little-endian machine.
func (s simulator) run(t testing.TB, auditArch, nr uint32, args ...uint64) verdict {
	t.Helper()
	words := []uint32{nr, auditArch, 0, 0}
	for _, a := range append(args, make([]uint64, 6-len(args))...) {
		words = append(words, uint32(a), uint32(a>>32))
	}
	var data []byte
	for _, w := range words {
		data = binary.BigEndian.AppendUint32(data, w)
	}
	got, err := s.vm.Run(data)
	if err != nil {
		t.Fatalf("filter on %v: %v", words, err)
	}
	return verdict(uint32(got))
}

// call is run by name; ok is false where the architecture has no such call.
func (s simulator) call(t testing.TB, name string, args ...uint64) (v verdict, ok bool) {
	t.Helper()
	nr, ok := s.nrs[name]
	if !ok {
		return 0, false
	}
	return s.run(t, uint32(s.info.ID), uint32(nr), args...), true
}

type filterCase struct {
	call string
	args []uint64
	want verdict
}

func with(args ...uint64) []uint64 { return args }

func minus(n int64) uint64 { return uint64(-n) }

// minus32 is how a C library passes a negative int: the upper half may be zero.
func minus32(n int32) uint64 { return uint64(uint32(-n)) }

func checkCases(t *testing.T, c FilterConfig, cases []filterCase) {
	t.Helper()
	for _, archName := range bothArches {
		s := simulate(t, archName, c)
		for _, tt := range cases {
			got, ok := s.call(t, tt.call, tt.args...)
			switch {
			case !ok && !(archName == "arm64" && slices.Contains(strings.Fields(amd64Only), tt.call)):
				t.Errorf("%s: no number for %s", archName, tt.call)
			case ok && got != tt.want:
				t.Errorf("%s: %s(%#x) = %#x, want %#x", archName, tt.call, tt.args, got, tt.want)
			}
		}
	}
}

// Arm64 was born without these: the C library makes newer calls for them.
const amd64Only = `
access alarm arch_prctl chmod chown creat dup2 epoll_create epoll_wait eventfd fork futimesat getdents getpgrp inotify_init
lchown link lstat mkdir mknod open pause pipe poll readlink rename rmdir select signalfd stat symlink time unlink utime utimes vfork`

func TestFilterArguments(t *testing.T) {
	checkCases(t, strictFilter, strictCases)
}

func TestFilterOwnNamespaces(t *testing.T) {
	checkCases(t, ownSpaces, ownSpacesCases)
}

func TestFilterSignals(t *testing.T) {
	checkCases(t, noScope, noScopeCases)
}

// What the worker does after the filter, and what Python and the libraries do.
const neededCalls = `
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek open openat openat2 creat close close_range
dup dup2 dup3 pipe pipe2 stat fstat lstat newfstatat statx access faccessat faccessat2 statfs fstatfs readlink readlinkat
mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat chmod fchmod fchmodat fchmodat2
chown fchown lchown fchownat umask utime utimes futimesat utimensat truncate ftruncate fallocate fsync fdatasync flock
getdents getdents64 getcwd chdir fchdir sendfile copy_file_range splice tee fadvise64 readahead sync_file_range
getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
mmap munmap mprotect mremap madvise brk msync mincore mlock mlock2 munlock mlockall munlockall mseal
pkey_alloc pkey_free pkey_mprotect map_shadow_stack membarrier rseq
fork vfork execve execveat exit exit_group wait4 waitid pidfd_open kill tkill tgkill pidfd_send_signal
getpid getppid gettid getpgid getpgrp getsid setsid setpgid set_tid_address set_robust_list get_robust_list arch_prctl
futex futex_waitv futex_wait futex_wake futex_requeue sched_yield sched_getaffinity sched_getparam sched_getscheduler
sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_getattr getcpu getpriority ioprio_get
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait rt_sigqueueinfo sigaltstack restart_syscall pause
alarm getitimer setitimer timer_create timer_settime timer_gettime timer_delete timer_getoverrun
timerfd_create timerfd_settime timerfd_gettime signalfd signalfd4 eventfd eventfd2
clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage sysinfo uname getrandom
getrlimit setrlimit getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setresuid setresgid capget
select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
recvfrom recvmsg recvmmsg sendto sendmsg sendmmsg shutdown getsockname getpeername getsockopt setsockopt`

func TestFilterAllowsWhatPythonNeeds(t *testing.T) {
	var cases []filterCase
	for _, name := range strings.Fields(neededCalls) {
		cases = append(cases, filterCase{name, nil, retAllow})
	}
	checkCases(t, strictFilter, cases)
	checkCases(t, ownSpaces, cases)
}

// Denied in every configuration, whatever the arguments.
const neverAllowed = `
io_uring_setup io_uring_enter io_uring_register io_setup io_submit ptrace process_vm_readv process_vm_writev process_madvise
process_mrelease pidfd_getfd kcmp bpf perf_event_open userfaultfd modify_ldt add_key keyctl request_key mount umount2 pivot_root
chroot fsopen fsconfig fsmount fspick move_mount open_tree open_tree_attr mount_setattr statmount listmount unshare setns clone3
fanotify_init fanotify_mark name_to_handle_at open_by_handle_at lookup_dcookie adjtimex clock_adjtime clock_settime settimeofday
syslog acct quotactl quotactl_fd swapon swapoff reboot kexec_load kexec_file_load vhangup sethostname setdomainname init_module
finit_module delete_module iopl ioperm nfsservctl uselib memfd_create memfd_secret vmsplice remap_file_pages sync syncfs cachestat
move_pages migrate_pages mbind set_mempolicy seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
lsm_set_self_attr _sysctl sysfs ustat create_module query_module`

func TestFilterNeverAllows(t *testing.T) {
	probes := [][]uint64{nil, with(1), with(^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)), with(0, 0xffffffff)}
	for label, c := range configs {
		for _, archName := range bothArches {
			s := simulate(t, archName, c)
			for _, name := range strings.Fields(neverAllowed) {
				for _, args := range probes {
					if got, ok := s.call(t, name, args...); ok && got&0xffff0000 != retErrno {
						t.Errorf("%s %s: %s(%#x) = %#x, want an errno", label, archName, name, args, got)
					}
				}
			}
		}
	}
}

// What containers may not do, a run may not do either.
func TestFilterIsWithinTheBaseList(t *testing.T) {
	for label, c := range configs {
		for _, archName := range bothArches {
			s, base := simulate(t, archName, c), baseList(archName)
			for name := range s.nrs {
				got, _ := s.call(t, name)
				if _, ok := base[name]; got == retAllow && !ok {
					t.Errorf("%s %s: %s is allowed, the base list denies it", label, archName, name)
				}
			}
		}
	}
}

func TestFilterUnknownNumbers(t *testing.T) {
	for _, archName := range bothArches {
		s := simulate(t, archName, strictFilter)
		id := uint32(s.info.ID)
		for nr := uint32(0); nr < 2048; nr++ {
			_, known := s.info.SyscallNumbers[int(nr)]
			if got := s.run(t, id, nr); !known && got != retENOSYS {
				t.Errorf("%s: number %d = %#x, want ENOSYS", archName, nr, got)
			}
		}
		for _, nr := range []uint32{468, 1 << 20, x32Bit, x32Bit + 1, x32Bit + 520, 0x7fffffff, 0xffffffff} {
			if got := s.run(t, id, nr); got != retENOSYS {
				t.Errorf("%s: number %#x = %#x, want ENOSYS", archName, nr, got)
			}
		}
	}
}

const x32Bit = 0x40000000

func TestFilterForeignArchitecture(t *testing.T) {
	foreign := map[string][]uint32{
		"amd64": {unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_AARCH64, 0, 0xffffffff},
		"arm64": {unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_X86_64, 0, 0xffffffff},
	}
	for archName, ids := range foreign {
		s := simulate(t, archName, ownSpaces)
		for _, id := range ids {
			for nr := uint32(0); nr < 600; nr++ {
				if got := s.run(t, id, nr); got != retKillProcess {
					t.Fatalf("%s: number %d of architecture %#x = %#x, want kill", archName, nr, id, got)
				}
			}
		}
	}
}

// Installing costs by length, and every worker installs one.
func TestFilterLength(t *testing.T) {
	const most = 700
	for label, c := range configs {
		for _, archName := range bothArches {
			program, err := SeccompProgram(archName, c)
			if n := len(program) / 8; err != nil || n > most {
				t.Errorf("%s %s: %d instructions, %v; want at most %d", label, archName, n, err, most)
			}
		}
	}
}

func TestFilterManyProtectedPIDs(t *testing.T) {
	many := FilterConfig{ProtectedPIDs: make([]int, 400)}
	for i := range many.ProtectedPIDs {
		many.ProtectedPIDs[i] = 1000 + i
	}
	for _, archName := range bothArches {
		s := simulate(t, archName, many)
		for _, pid := range many.ProtectedPIDs {
			for _, arg := range with(uint64(pid), minus(int64(pid)), minus32(int32(pid)), upperBit|uint64(pid)) {
				if got, _ := s.call(t, "kill", arg); got != retEPERM {
					t.Fatalf("%s: kill(%#x) = %#x, want EPERM", archName, arg, got)
				}
			}
		}
		if got, _ := s.call(t, "kill", 999); got != retAllow {
			t.Errorf("%s: kill(999) = %#x, want allow", archName, got)
		}
	}
}

func TestSeccompProgramErrors(t *testing.T) {
	tooMany := make([]int, 2000)
	for i := range tooMany {
		tooMany[i] = i + 1
	}
	tests := []struct {
		arch string
		c    FilterConfig
		want string
	}{
		{"386", strictFilter, "seccomp filter for 386: want amd64 or arm64"},
		{"", strictFilter, "seccomp filter for : want amd64 or arm64"},
		{"amd64", FilterConfig{ProtectedPIDs: []int{5, 0}}, "protected pid 0: not a process id"},
		{"amd64", FilterConfig{ProtectedPIDs: []int{-4}}, "protected pid -4: not a process id"},
		{"arm64", FilterConfig{ProtectedPIDs: []int{1 << 32}}, "protected pid 4294967296: not a process id"},
		{"amd64", FilterConfig{ProtectedPIDs: tooMany}, "limit 4096"},
	}
	for _, tt := range tests {
		program, err := SeccompProgram(tt.arch, tt.c)
		if err == nil || !strings.Contains(err.Error(), tt.want) || program != nil {
			t.Errorf("SeccompProgram(%q) = %d bytes, %v; want error %q", tt.arch, len(program), err, tt.want)
		}
	}
}

// The base list may grow a condition that the policy doesn't know: no filter
// then, rather than one that allows all arguments.
func TestCallTableWantsARuleForEachCondition(t *testing.T) {
	numbers := map[string]int{"ioctl": 16, "read": 0}
	allowed := map[string]baseCall{"ioctl": {conditional: true}, "read": {}}
	if _, err := callTable(numbers, allowed, nil); err == nil {
		t.Error("callTable took a conditional call without a rule")
	}
	twice := []callRule{refuse(retEPERM, "ioctl", "x"), refuse(retENOSYS, "ioctl", "y")}
	if _, err := callTable(numbers, allowed, twice); err == nil {
		t.Error("callTable took two rules for one call")
	}
}

func TestCallTableDefaults(t *testing.T) {
	numbers := map[string]int{"older": 0, "newest": 1, "newer": 2, "ruled": 4}
	ruled := []callRule{refuse(retEPERM, "ruled", "x")}
	table, err := callTable(numbers, map[string]baseCall{"newest": {}}, ruled)
	if err != nil {
		t.Fatal(err)
	}
	want := []verdict{retEPERM, retAllow, retENOSYS, retENOSYS, retEPERM} // 3 is nobody's
	for nr, r := range table {
		if r.otherwise != want[nr] {
			t.Errorf("number %d = %#x, want %#x", nr, r.otherwise, want[nr])
		}
	}
}
