# Looks into the server and the others, or changes them. Prints refused for each.
import struct

PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206


def vector(buffer, size):
    return ctypes.create_string_buffer(struct.pack("QQ", buffer, size))


def stack_of(pid):
    with open(f"/proc/{pid}/maps") as maps:
        line = next(line for line in maps if "[stack]" in line)
    return int(line.split()[0].split("-")[1], 16) - 64


def vm(intel, arm):
    def attack(pid):
        own = ctypes.create_string_buffer(64)
        there = stack_of(pid) if CONTROL else ctypes.addressof(own)
        return call(intel, arm, pid, vector(ctypes.addressof(own), 64), 1, vector(there, 64), 1, 0)
    return attack


def pidfd_getfd(pid):
    fd = call(434, 434, pid, 0)
    try:
        os.close(call(438, 438, fd, 0, 0))
    finally:
        os.close(fd)


def madvise(pid):
    """MADV_COLD on the top of its stack."""
    fd = call(434, 434, pid, 0)
    try:
        there = (stack_of(pid) if CONTROL else 1 << 40) & ~4095
        call(440, 440, fd, vector(there, 4096), 1, 20, 0)
    finally:
        os.close(fd)


against("ptrace attach", lambda pid: call(101, 117, PTRACE_ATTACH, pid, 0, 0))
against("ptrace seize", lambda pid: call(101, 117, PTRACE_SEIZE, pid, 0, 0))
against("process_vm_readv", vm(310, 270))
against("process_vm_writev", vm(311, 271))
against("pidfd_getfd", pidfd_getfd)
against("process_madvise", madvise)
against("kcmp", lambda pid: call(312, 272, os.getpid(), pid, 1, 0, 0), uncontrolled="not in every kernel")
against("move_pages", lambda pid: call(279, 239, pid, 0, None, None, None, 0), uncontrolled="not in every kernel")
against("migrate_pages", lambda pid: call(256, 238, pid, 0, None, None), uncontrolled="not in every kernel")
against("perf_event_open", lambda pid: call(298, 241, ctypes.create_string_buffer(128), pid, -1, -1, 0), uncontrolled="not in every kernel")
attempt("be traced", lambda: call(101, 117, 0, 0, 0, 0))
