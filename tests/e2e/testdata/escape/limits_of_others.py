# Slows down or starves the server: its limits, priority, processors, scheduler.
# Prints refused for each.
import resource
import struct

FILES = (16, 16)


def prlimit(pid):
    resource.prlimit(pid, resource.RLIMIT_NOFILE, FILES)


def scheduler(pid):
    os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))


def attributes(pid):
    """struct sched_attr: SCHED_IDLE, nice 0."""
    attr = struct.pack("IIQiIQQQ", 48, os.SCHED_IDLE, 0, 0, 0, 0, 0, 0)
    call(314, 274, pid, ctypes.create_string_buffer(attr, 48), 0)


against("prlimit set", prlimit)
against("prlimit get", lambda pid: resource.prlimit(pid, resource.RLIMIT_NOFILE))
against("setpriority process", lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19))
against("setpriority group", lambda pid: os.setpriority(os.PRIO_PGRP, pid, 19))
attempt("setpriority user", lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19), uncontrolled="all of root's processes")
against("sched_setaffinity", lambda pid: os.sched_setaffinity(pid, {0}))
against("sched_setscheduler", scheduler)
against("sched_setparam", lambda pid: os.sched_setparam(pid, os.sched_param(0)))
against("sched_setattr", attributes)
against("ioprio_set", lambda pid: call(251, 30, 1, pid, 3 << 13))
against("ioprio_set group", lambda pid: call(251, 30, 2, pid, 3 << 13))
against("autogroup", lambda pid: open(f"/proc/{pid}/autogroup", "w").write("19"), uncontrolled="not in every kernel")
