package sandbox

// The reviewed differences from the list that containers run with. That list
// denies by default; names that it doesn't allow today are here too where they
// must stay denied whatever it says tomorrow. A call that is in neither answers
// EPERM, a number that nobody here has heard of ENOSYS.

// refused are denied whatever the arguments. ENOSYS and EOPNOTSUPP are answers
// of a kernel built without the feature, where software has a way to go on.
var refused = []callRule{
	refuse(retENOSYS, "clone3", "its flags are behind a pointer; libc falls back to clone"),
	refuse(retENOSYS, "seccomp", "a filter of the program's own could fill the host's audit log (RET_LOG)"),
	refuse(retENOSYS, "landlock_create_ruleset landlock_add_rule landlock_restrict_self", "confined already; 16 layers are all there are"),
	refuse(retENOSYS, "statmount listmount", "show the host's mounts; no Python library calls them"),
	refuse(retENOSYS, "cachestat", "shows what others read: the page cache is shared"),
	refuse(retEOPNOTSUPP, "setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat",
		"Landlock doesn't mediate metadata: files of the same uid; cp and shutil go on after this errno"),

	refuse(retEPERM, "io_uring_setup io_uring_enter io_uring_register", "does what other calls do, past this filter"),
	refuse(retEPERM, "io_setup io_submit io_destroy io_cancel io_getevents io_pgetevents", "fs.aio-max-nr is one budget for the whole host"),
	refuse(retEPERM, "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp move_pages migrate_pages",
		"look into or change another process"),
	refuse(retEPERM, "memfd_create memfd_secret", "memory that no rlimit counts; for multiprocessing there is /dev/shm"),
	refuse(retEPERM, "vmsplice", "pins pages (huge ones whole) that no rlimit counts"),
	refuse(retEPERM, "remap_file_pages", "emulated since Linux 4.0; no library calls it"),
	refuse(retEPERM, "sync syncfs", "writes out the host's disks; fsync of a file is allowed"),
	refuse(retEPERM, "bpf perf_event_open userfaultfd modify_ldt", "kernel surface of many exploits; no Python library calls it"),
	refuse(retEPERM, "add_key keyctl request_key", "keyrings are shared by all processes of an uid"),
	refuse(retEPERM, "mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree open_tree_attr mount_setattr",
		"change what paths mean"),
	refuse(retEPERM, "unshare setns", "a new user namespace brings all capabilities in it"),
	refuse(retEPERM, "fanotify_init fanotify_mark", "report what others do with files"),
	refuse(retEPERM, "name_to_handle_at open_by_handle_at lookup_dcookie", "files without their path, past Landlock"),
	refuse(retEPERM, "adjtimex clock_adjtime clock_settime settimeofday", "the host's clock"),
	refuse(retEPERM, "syslog acct quotactl quotactl_fd swapon swapoff reboot kexec_load kexec_file_load vhangup sethostname setdomainname",
		"the host's business"),
	refuse(retEPERM, "init_module finit_module delete_module iopl ioperm nfsservctl uselib", "the host's kernel"),
}

const rlimitCore = 4

// onOneself are calls that take a process id and are allowed on the caller
// alone, as id 0: the server may have the same uid, and Landlock doesn't
// mediate them. The caller's own id in digits can't be told from others.
var onOneself = []callRule{
	{"prlimit64", "would lower the server's limits, or let a dump reach the host's core handler", []callCase{
		{[]argTest{argIs(0, 0), argIs(1, rlimitCore)}, retEPERM},
		{[]argTest{argIs(0, 0)}, retAllow},
	}, retEPERM},
	unless(retEPERM, "setrlimit", "would let a dump reach the host's core handler", argIs(0, rlimitCore)),
	onlyIf(retEPERM, "sched_setaffinity sched_setattr sched_setparam sched_setscheduler", "would slow the server down", argIs(0, 0)),
	onlyIf(retEPERM, "setpriority", "would slow the server down", argIs(0, prioProcess), argIs(1, 0)),
	onlyIf(retEPERM, "ioprio_set", "would slow the server down", argIs(0, ioprioWhoProcess), argIs(1, 0)),
}

const (
	prioProcess      = 0
	ioprioWhoProcess = 1
)

// narrowed are allowed in part.
var narrowed = []callRule{
	onlyIf(retEPERM, "clone", "new namespaces; CLONE_PARENT gives the child to the reaper", argMasked(0, cloneDenied, 0)),
	onlyIf(retEPERM, "personality", "turns address randomization off; default and query stay", argIs(0, 0, 0xffffffff)),
	unless(retEPERM, "mknod", "no device nodes; fifos, sockets and files stay", argMasked(1, deviceBit, deviceBit)),
	unless(retEPERM, "mknodat", "no device nodes; fifos, sockets and files stay", argMasked(2, deviceBit, deviceBit)),
	unless(retEPERM, "ioctl", "typing into a terminal, line disciplines, signals to an owner that is set",
		argIs(1, tiocSTI, tiocLinux, tiocSetD, fioAsync, fioSetOwn, siocSPGrp)),
	fcntlRule,
	prctlRule,
}

const (
	// NEWTIME is missing: its bit is part of clone's exit signal. The rest:
	// NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and PARENT.
	cloneDenied = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00008000

	deviceBit = 0x2000 // set in S_IFCHR and S_IFBLK, in no other type that mknod(2) makes

	tiocSTI   = 0x5412
	tiocLinux = 0x541c
	tiocSetD  = 0x5423 // loads the module of a line discipline
	fioAsync  = 0x5452
	fioSetOwn = 0x8901
	siocSPGrp = 0x8902
)

// fcntlRule allows by name; any other command is EINVAL, as from a kernel that
// doesn't know it: F_SETDELEG came only with Linux 6.19.
var fcntlRule = callRule{
	"fcntl", "signals and leases aimed at other processes, directory notification", []callCase{
		{[]argTest{argIs(1, fSetOwn, fSetSig, fSetOwnEx, fSetLease, fNotify)}, retEPERM},
		{[]argTest{argIs(1, fcntlAllowed...)}, retAllow},
	}, retEINVAL,
}

const (
	fSetOwn   = 8
	fSetSig   = 10
	fSetOwnEx = 15
	fSetLease = 1024 // open(2) in another process would wait for the lease, up to 45 s
	fNotify   = 1026
)

// fcntlAllowed concern the caller's own descriptors. See fcntl(2).
var fcntlAllowed = []uint32{
	0, 1, 2, 3, 4, // F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL
	5, 6, 7, 36, 37, 38, // F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
	9, 11, 16, 17, // F_GETOWN, F_GETSIG, F_GETOWN_EX, F_GETOWNER_UIDS
	1025, 1027, 1028, 1030, // F_GETLEASE, F_DUPFD_QUERY, F_CREATED_QUERY, F_DUPFD_CLOEXEC
	1031, 1032, 1033, 1034, // F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS
	1035, 1036, 1037, 1038, // F_GET_RW_HINT, F_SET_RW_HINT, F_GET_FILE_RW_HINT, F_SET_FILE_RW_HINT
}

// prctlRule allows by name; any other option is EINVAL, the answer of a kernel
// that doesn't know it. Left out, among others: PR_SET_SECCOMP (see seccomp),
// PR_SET_MM, PR_SET_VMA (names hide a mapping from the watchdog), PR_SET_PTRACER, PR_SCHED_CORE (idles the host's sibling threads,
// takes a pid). PR_SET_CHILD_SUBREAPER is harmless: kill(-1) and the sweep reach
// orphans wherever they hang.
var prctlRule = callRule{
	"prctl", "options are many and new ones come", []callCase{
		{[]argTest{argIs(0, prSetPDeathSig), argIs(1, sigKill)}, retAllow},
		{[]argTest{argIs(0, prSetPDeathSig)}, retEPERM}, // cleared: would outlive its reaper
		{[]argTest{argIs(0, prSetDumpable), argIs(1, 1)}, retAllow},
		{[]argTest{argIs(0, prSetDumpable)}, retEPERM}, // the watchdog reads smaps
		{[]argTest{argIs(0, prctlAllowed...)}, retAllow},
	}, retEINVAL,
}

const (
	prSetPDeathSig = 1
	prSetDumpable  = 4
	sigKill        = 9
)

// prctlAllowed concern the caller alone. See prctl(2).
var prctlAllowed = []uint32{
	2, 3, 7, // PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_GET_KEEPCAPS
	15, 16, // PR_SET_NAME, PR_GET_NAME: threading names its threads since Python 3.14
	21, 23, 27, // PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_SECUREBITS
	25, 29, 30, 34, // PR_GET_TSC, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_MCE_KILL_GET
	36, 37, // PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER
	38, 39, 40, // PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS
	41, 42, // PR_SET_THP_DISABLE, PR_GET_THP_DISABLE
	47,     // PR_CAP_AMBIENT: without capabilities it can only ask and clear
	50, 51, // PR_SVE_SET_VL, PR_SVE_GET_VL
	52, 53, // PR_GET_SPECULATION_CTRL, PR_SET_SPECULATION_CTRL
	54, 55, 56, // PR_PAC_RESET_KEYS, PR_SET_TAGGED_ADDR_CTRL, PR_GET_TAGGED_ADDR_CTRL
	60, 61, // PR_PAC_SET_ENABLED_KEYS, PR_PAC_GET_ENABLED_KEYS
	63, 64, // PR_SME_SET_VL, PR_SME_GET_VL
	65, 66, 68, // PR_SET_MDWE, PR_GET_MDWE, PR_GET_MEMORY_MERGE
	74, 75, 76, // PR_GET_SHADOW_STACK_STATUS, PR_SET_SHADOW_STACK_STATUS, PR_LOCK_SHADOW_STACK_STATUS
	78,         // PR_FUTEX_HASH: glibc may size its futex table
	0x41555856, // PR_GET_AUXV
}

// sharedIPC is in force where the ipc namespace is shared: objects would stay
// for the next run.
var sharedIPC = refuse(retEPERM,
	"shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl "+
		"mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr",
	"objects of a shared ipc namespace outlive the run")

// sharedFiles is in force where the file system is the host's.
var sharedFiles = refuse(retEPERM, "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch",
	"Landlock doesn't mediate it: names in a denied directory stream out")
