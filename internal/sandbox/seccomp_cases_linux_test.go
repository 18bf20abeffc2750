package sandbox

import (
	"testing"

	"golang.org/x/sys/unix"
)

const (
	nonBlockExec = unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	threadFlags  = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD |
		unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID
	forkFlags = unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID | uint64(unix.SIGCHLD)
)

var strictCases = []filterCase{
	{"socket", with(unix.AF_UNIX, unix.SOCK_STREAM), retNoFamily},
	{"socket", with(unix.AF_INET, unix.SOCK_STREAM), retNoFamily},
	{"socket", with(unix.AF_INET6, unix.SOCK_DGRAM), retNoFamily},
	{"socket", with(unix.AF_NETLINK, unix.SOCK_RAW), retNoFamily},
	{"socket", with(unix.AF_VSOCK, unix.SOCK_STREAM), retNoFamily},
	{"socket", with(unix.AF_PACKET, unix.SOCK_RAW), retNoFamily},
	{"socket", with(unix.AF_ALG, unix.SOCK_SEQPACKET), retNoFamily},
	{"socket", with(upperBit|unix.AF_INET, unix.SOCK_STREAM), retNoFamily},
	{"socketpair", with(unix.AF_UNIX, unix.SOCK_STREAM), retAllow},
	{"socketpair", with(unix.AF_UNIX, unix.SOCK_SEQPACKET|nonBlockExec), retAllow},
	{"socketpair", with(unix.AF_UNIX, unix.SOCK_DGRAM), retNoSocketType},
	{"socketpair", with(unix.AF_UNIX, unix.SOCK_DGRAM|nonBlockExec), retNoSocketType},
	{"socketpair", with(unix.AF_UNIX, unix.SOCK_RAW), retNoSocketType}, // a datagram socket, for AF_UNIX
	{"socketpair", with(upperBit|unix.AF_UNIX, upperBit|unix.SOCK_DGRAM), retNoSocketType},
	{"setsockopt", with(3, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER), retEPERM},
	{"setsockopt", with(3, upperBit|unix.SOL_SOCKET, upperBit|unix.SO_ATTACH_FILTER), retEPERM},
	{"setsockopt", with(3, unix.SOL_SOCKET, unix.SO_ATTACH_BPF), retEPERM},
	{"setsockopt", with(3, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF), retEPERM},
	{"setsockopt", with(3, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_EBPF), retEPERM},
	{"setsockopt", with(3, unix.SOL_SOCKET, unix.SO_SNDBUF), retEPERM},
	{"setsockopt", with(3, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE), retEPERM},
	{"setsockopt", with(3, unix.SOL_SOCKET, unix.SO_REUSEADDR), retAllow},
	{"setsockopt", with(3, unix.IPPROTO_TCP, unix.SO_SNDBUF), retAllow}, // another level
	{"socketpair", with(unix.AF_INET, unix.SOCK_STREAM), retNoFamily},
	{"socketpair", with(unix.AF_TIPC, unix.SOCK_STREAM), retNoFamily},
	{"sendto", with(3, 0, 0, unix.MSG_FASTOPEN), retEPERM},
	{"sendto", with(3, 0, 0, upperBit|unix.MSG_FASTOPEN|unix.MSG_NOSIGNAL), retEPERM},
	{"sendmsg", with(3, 0, unix.MSG_FASTOPEN), retEPERM},
	{"sendmmsg", with(3, 0, 0, unix.MSG_FASTOPEN|unix.MSG_DONTWAIT), retEPERM},
	{"sendmsg", with(3, 0, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT), retAllow},
	{"connect", with(3), retEPERM},
	{"bind", with(3), retEPERM},
	{"listen", with(3), retEPERM},
	{"accept4", with(3), retEPERM},

	{"clone", with(forkFlags), retAllow},
	{"clone", with(threadFlags), retAllow},
	{"clone", with(unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)), retAllow},
	{"clone", with(unix.CLONE_PIDFD | uint64(unix.SIGCHLD)), retAllow},
	{"clone", with(unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)), retEPERM},
	{"clone", with(upperBit | unix.CLONE_NEWUSER), retEPERM},
	{"clone", with(unix.CLONE_NEWNS), retEPERM},
	{"clone", with(unix.CLONE_NEWPID), retEPERM},
	{"clone", with(unix.CLONE_NEWNET), retEPERM},
	{"clone", with(unix.CLONE_NEWIPC), retEPERM},
	{"clone", with(unix.CLONE_NEWUTS), retEPERM},
	{"clone", with(unix.CLONE_NEWCGROUP), retEPERM},
	{"clone", with(forkFlags | unix.CLONE_PARENT), retEPERM},
	{"clone", with(threadFlags | unix.CLONE_PARENT), retEPERM},
	{"clone3", with(0, 88), retENOSYS},

	{"personality", with(0xffffffff), retAllow},
	{"personality", with(^uint64(0)), retAllow},
	{"personality", with(0), retAllow},
	{"personality", with(0x0040000), retEPERM}, // ADDR_NO_RANDOMIZE
	{"personality", with(upperBit | 0x0040000), retEPERM},
	{"personality", with(8), retEPERM}, // PER_LINUX32
	{"mknod", with(0, unix.S_IFIFO|0o600), retAllow},
	{"mknod", with(0, unix.S_IFCHR|0o600), retEPERM},
	{"mknodat", with(0, 0, unix.S_IFREG|0o600), retAllow},
	{"mknodat", with(0, 0, unix.S_IFSOCK|0o600), retAllow},
	{"mknodat", with(0, 0, unix.S_IFIFO|0o600), retAllow},
	{"mknodat", with(0, 0, unix.S_IFBLK|0o600), retEPERM},
	{"mknodat", with(0, 0, upperBit|unix.S_IFCHR), retEPERM},

	{"ioctl", with(0, unix.TCGETS), retAllow},
	{"ioctl", with(0, unix.TIOCINQ), retAllow},
	{"ioctl", with(0, 0x5421), retAllow}, // FIONBIO
	{"ioctl", with(0, 0x5451), retAllow}, // FIOCLEX
	{"ioctl", with(0, unix.TIOCGWINSZ), retAllow},
	{"ioctl", with(0, unix.TIOCSTI), retEPERM},
	{"ioctl", with(0, upperBit|unix.TIOCSTI), retEPERM},
	{"ioctl", with(0, 0x541c), retEPERM}, // TIOCLINUX
	{"ioctl", with(0, upperBit|0x541c), retEPERM},
	{"ioctl", with(0, unix.TIOCSETD), retEPERM},
	{"ioctl", with(0, 0x5452), retEPERM}, // FIOASYNC
	{"ioctl", with(0, 0x8901), retEPERM}, // FIOSETOWN
	{"ioctl", with(0, upperBit|0x8902), retEPERM},
	{"fcntl", with(0, unix.F_GETFD), retAllow},
	{"fcntl", with(0, unix.F_SETFL, unix.O_NONBLOCK), retAllow},
	{"fcntl", with(0, unix.F_DUPFD_CLOEXEC), retAllow},
	{"fcntl", with(0, unix.F_SETLK), retAllow},
	{"fcntl", with(0, unix.F_OFD_SETLKW), retAllow},
	{"fcntl", with(0, unix.F_SETPIPE_SZ), retAllow},
	{"fcntl", with(0, unix.F_SETOWN), retEPERM},
	{"fcntl", with(0, upperBit|unix.F_SETOWN), retEPERM},
	{"fcntl", with(0, unix.F_SETOWN_EX), retEPERM},
	{"fcntl", with(0, unix.F_SETSIG), retEPERM},
	{"fcntl", with(0, unix.F_SETLEASE), retEPERM},
	{"fcntl", with(0, unix.F_NOTIFY), retEPERM},
	{"fcntl", with(0, unix.F_SETDELEG), retEINVAL},
	{"fcntl", with(0, 9999), retEINVAL},

	{"prctl", with(unix.PR_SET_NAME), retAllow},
	{"prctl", with(unix.PR_SET_NO_NEW_PRIVS, 1), retAllow},
	{"prctl", with(unix.PR_GET_SECCOMP), retAllow},
	{"prctl", with(unix.PR_SET_CHILD_SUBREAPER, 1), retAllow},
	{"prctl", with(unix.PR_SET_VMA), retEINVAL},
	{"prctl", with(unix.PR_SET_PDEATHSIG, uint64(unix.SIGKILL)), retAllow},
	{"prctl", with(unix.PR_SET_PDEATHSIG, 0), retEPERM},
	{"prctl", with(unix.PR_SET_PDEATHSIG, uint64(unix.SIGTERM)), retEPERM},
	{"prctl", with(upperBit|unix.PR_SET_PDEATHSIG, 0), retEPERM},
	{"prctl", with(unix.PR_SET_DUMPABLE, 1), retAllow},
	{"prctl", with(unix.PR_SET_DUMPABLE, 0), retEPERM},
	{"prctl", with(unix.PR_SET_SECCOMP, 2), retEINVAL},
	{"prctl", with(upperBit|unix.PR_SET_SECCOMP, 2), retEINVAL},
	{"prctl", with(unix.PR_SET_MM), retEINVAL},
	{"prctl", with(unix.PR_SET_PTRACER), retEINVAL},
	{"prctl", with(unix.PR_SCHED_CORE), retEINVAL},
	{"prctl", with(9999), retEINVAL},

	{"prlimit64", with(0, unix.RLIMIT_CORE), retEPERM},
	{"prlimit64", with(upperBit, unix.RLIMIT_CORE), retEPERM},
	{"prlimit64", with(0, unix.RLIMIT_CPU), retAllow},
	{"prlimit64", with(upperBit), retAllow}, // pid 0, for the kernel
	{"prlimit64", with(1, unix.RLIMIT_NOFILE), retEPERM},
	{"prlimit64", with(minus(1)), retEPERM},
	{"setpriority", with(unix.PRIO_PROCESS, 0, 5), retAllow},
	{"setpriority", with(unix.PRIO_PROCESS, 1, 19), retEPERM},
	{"setpriority", with(unix.PRIO_PGRP, 0, 19), retEPERM},
	{"setpriority", with(unix.PRIO_USER, 0, 19), retEPERM},
	{"ioprio_set", with(1, 0), retAllow},
	{"ioprio_set", with(1, 1), retEPERM},
	{"ioprio_set", with(3, 0), retEPERM}, // IOPRIO_WHO_USER
	{"sched_setaffinity", with(0), retAllow},
	{"sched_setaffinity", with(1), retEPERM},
	{"sched_setscheduler", with(1), retEPERM},
	{"sched_setparam", with(1), retEPERM},
	{"sched_setattr", with(0), retAllow},
	{"sched_setattr", with(1), retEPERM},

	{"shmget", nil, retEPERM},
	{"semop", nil, retEPERM},
	{"msgsnd", nil, retEPERM},
	{"mq_open", nil, retEPERM},
	{"mq_notify", nil, retEPERM},
	{"inotify_init1", nil, retEPERM},
	{"inotify_add_watch", nil, retEPERM},
	{"setxattr", nil, retEOPNOTSUPP},
	{"seccomp", with(1), retENOSYS},
	{"landlock_restrict_self", nil, retENOSYS},
	{"statmount", nil, retENOSYS},
	{"io_uring_setup", nil, retEPERM},
	{"mbind", nil, retEPERM}, // in no rule: the default
	{"kill", with(minus(1), 9), retAllow},
	{"kill", with(1, 9), retAllow},
}

var ownSpacesCases = []filterCase{
	{"socket", with(unix.AF_UNIX, unix.SOCK_STREAM), retAllow},
	{"socket", with(unix.AF_UNIX, unix.SOCK_DGRAM|nonBlockExec), retAllow},
	{"socket", with(upperBit|unix.AF_UNIX, unix.SOCK_SEQPACKET), retAllow},
	{"socket", with(unix.AF_INET, unix.SOCK_STREAM|nonBlockExec, unix.IPPROTO_TCP), retAllow},
	{"socket", with(unix.AF_INET, unix.SOCK_STREAM, 0), retAllow},
	{"socket", with(unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_UDP), retAllow},
	{"socket", with(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), retNoProtocol},
	{"socket", with(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP), retNoProtocol},
	{"socket", with(unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_MPTCP), retNoProtocol},
	{"socket", with(unix.AF_INET, unix.SOCK_STREAM, upperBit|unix.IPPROTO_SCTP), retNoProtocol},
	{"socket", with(unix.AF_INET, unix.SOCK_DCCP, 0), retNoProtocol},
	{"socket", with(unix.AF_INET, unix.SOCK_PACKET, 0), retNoProtocol},
	{"socket", with(unix.AF_NETLINK, unix.SOCK_RAW), retNoFamily},
	{"socket", with(unix.AF_VSOCK, unix.SOCK_STREAM), retNoFamily},
	{"socket", with(unix.AF_PACKET, unix.SOCK_RAW), retNoFamily},
	{"socket", with(unix.AF_ALG, unix.SOCK_SEQPACKET), retNoFamily},
	{"socket", with(unix.AF_XDP, unix.SOCK_RAW), retNoFamily},
	{"socket", with(unix.AF_CAN, unix.SOCK_RAW), retNoFamily},
	{"socket", with(0), retNoFamily},
	{"socket", with(0xffffffff), retNoFamily},
	{"socketpair", with(unix.AF_UNIX, unix.SOCK_DGRAM), retAllow},
	{"socketpair", with(unix.AF_TIPC, unix.SOCK_STREAM), retNoFamily},
	{"sendto", with(3, 0, 0, unix.MSG_FASTOPEN), retAllow},
	{"connect", with(3), retAllow},
	{"bind", with(3), retAllow},
	{"listen", with(3), retAllow},
	{"accept", with(3), retAllow},
	{"accept4", with(3), retAllow},
	{"shmget", nil, retAllow},
	{"shmat", nil, retAllow},
	{"semtimedop", nil, retAllow},
	{"msgrcv", nil, retAllow},
	{"mq_open", nil, retAllow},
	{"mq_unlink", nil, retAllow},
	{"inotify_init", nil, retAllow},
	{"inotify_init1", nil, retAllow},
	{"inotify_add_watch", nil, retAllow},
	{"clone", with(unix.CLONE_NEWUSER), retEPERM},
	{"prlimit64", with(1), retEPERM},
	{"fcntl", with(0, unix.F_SETOWN), retEPERM},
}

var noScopeCases = []filterCase{
	{"kill", with(1, 9), retEPERM},
	{"kill", with(minus(1), 9), retEPERM},
	{"kill", with(minus32(1), 9), retEPERM},
	{"kill", with(7, 0), retEPERM},
	{"kill", with(minus(7), 9), retEPERM},
	{"kill", with(4321, 19), retEPERM},
	{"kill", with(upperBit|4321, 19), retEPERM},
	{"kill", with(minus32(4321), 19), retEPERM},
	{"kill", with(0, 9), retAllow}, // the run's own group
	{"kill", with(4320, 9), retAllow},
	{"kill", with(minus(4320), 9), retAllow},
	{"tgkill", with(4321, 4321, 9), retEPERM},
	{"tgkill", with(4321, 4350, 9), retEPERM},
	{"tgkill", with(upperBit|7, 7, 9), retEPERM},
	{"tgkill", with(4320, 4320, 9), retAllow},
	{"rt_sigqueueinfo", with(7, 9), retEPERM},
	{"rt_sigqueueinfo", with(8, 9), retAllow},
	{"rt_tgsigqueueinfo", with(1, 1, 9), retEPERM},
	{"rt_tgsigqueueinfo", with(2, 2, 9), retAllow},
	{"tkill", with(4320, 9), retENOSYS},
	{"pidfd_send_signal", with(3, 9), retENOSYS},
	{"pidfd_open", with(4321), retAllow}, // without a use: see pidfd_send_signal, pidfd_getfd, setns
}

// The numbers that the policy writes out, against those of the kernel headers.
func TestFilterConstants(t *testing.T) {
	tests := []struct {
		name      string
		got, want uint64
	}{
		{"cloneDenied", cloneDenied, unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
			unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_PARENT},
		{"retAllow", uint64(retAllow), unix.SECCOMP_RET_ALLOW},
		{"retKillProcess", uint64(retKillProcess), unix.SECCOMP_RET_KILL_PROCESS},
		{"retEPERM", uint64(retEPERM), unix.SECCOMP_RET_ERRNO | uint64(unix.EPERM)},
		{"retEINVAL", uint64(retEINVAL), unix.SECCOMP_RET_ERRNO | uint64(unix.EINVAL)},
		{"retENOSYS", uint64(retENOSYS), unix.SECCOMP_RET_ERRNO | uint64(unix.ENOSYS)},
		{"retNoProtocol", uint64(retNoProtocol), unix.SECCOMP_RET_ERRNO | uint64(unix.EPROTONOSUPPORT)},
		{"retNoSocketType", uint64(retNoSocketType), unix.SECCOMP_RET_ERRNO | uint64(unix.ESOCKTNOSUPPORT)},
		{"retEOPNOTSUPP", uint64(retEOPNOTSUPP), unix.SECCOMP_RET_ERRNO | uint64(unix.EOPNOTSUPP)},
		{"retNoFamily", uint64(retNoFamily), unix.SECCOMP_RET_ERRNO | uint64(unix.EAFNOSUPPORT)},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s = %#x, want %#x", tt.name, tt.got, tt.want)
		}
	}
}
