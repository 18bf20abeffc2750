# Traces, reads, slows down and re-limits whoever may have a number.
# want: exit 0
# want: stdout "reached set()\n"
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
INTEL = os.uname().machine == "x86_64"
PRLIMIT, PTRACE, READV = (302, 101, 310) if INTEL else (261, 117, 270)
buffer = ctypes.create_string_buffer(64)
reached = set()
for _ in tries():
    for pid in range(1, 2048):
        if pid == os.getpid():
            continue
        for name, call in (("prlimit", (PRLIMIT, pid, 7, buffer, None)), ("seize", (PTRACE, 0x4206, pid, None, None)),
                           ("read", (READV, pid, buffer, 1, buffer, 1, 0))):
            if libc.syscall(*call) != -1:
                reached.add(f"{name} {pid}")
        for name, function in (("nice", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)), ("affinity", lambda: os.sched_setaffinity(pid, {0})),
                               ("idle", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))):
            try:
                function()
                reached.add(f"{name} {pid}")
            except OSError:
                pass
print("reached", reached)
