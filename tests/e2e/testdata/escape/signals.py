# Signals the server, its threads, its fork servers, init and the waiting
# workers in every way that Linux has. Prints refused for each.
# An ordinary user has one uid, so without Landlock's signal scope nothing denies a
# signal to the reaper, process 1. It goes on: the first process of a pid namespace
# gets none from inside that it does not handle, and it handles SIGCHLD only.
# except namespaces user abi<6: ALLOWED 1: kill #; tkill #; tgkill #; pidfd_send_signal #
# except namespaces user abi<6: ALLOWED 1: rt_sigqueueinfo #; rt_tgsigqueueinfo #
import fcntl
import socket
import struct
import time

SIGNALS = (0, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGPIPE, signal.SIGTERM,
           signal.SIGCHLD, signal.SIGSTOP, signal.SIGTSTP, signal.SIGSEGV, signal.SIGKILL)


def info(number):
    """A siginfo_t as sigqueue(3) makes it."""
    return ctypes.create_string_buffer(struct.pack("iii", number, 0, -1), 128)


def by_pidfd(pid, number):
    fd = call(434, 434, pid, 0)
    try:
        call(424, 424, fd, number, None, 0)
    finally:
        os.close(fd)


def by_owner(command):
    """SIGIO to the owner of a descriptor, once there is something to read."""
    def attack(pid):
        reader, writer = socket.socketpair()
        command(reader, pid)
        fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        writer.send(b"x")
    return attack


def f_setown_ex(sock, pid):
    fcntl.fcntl(sock, 15, struct.pack("ii", 1, pid))


def kill_group(group, number):
    """0 would be our own group and -1 everything that we may kill: our children."""
    if group <= 1:
        raise ProcessLookupError(errno.ESRCH, "not a group")
    os.kill(-group, number)


def kill_group_of(pid, number):
    """The server need not lead the group that it is in."""
    kill_group(os.getpgid(pid), number)


for number in SIGNALS:
    against(f"kill {number:d}", os.kill, number)
    against(f"kill its process group {number:d}", kill_group, number)
    against(f"killpg {number:d}", kill_group_of, number)
    against(f"tkill {number:d}", lambda pid, number: call(200, 130, pid, number), number)
    against(f"tgkill {number:d}", lambda pid, number: call(234, 131, pid, pid, number), number)
    against(f"pidfd_send_signal {number:d}", by_pidfd, number)
for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
    against(f"rt_sigqueueinfo {number:d}", lambda pid, number: call(129, 138, pid, number, info(number)), number)
    against(f"rt_tgsigqueueinfo {number:d}", lambda pid, number: call(297, 240, pid, pid, number, info(number)), number)
against("F_SETOWN", by_owner(lambda sock, pid: fcntl.fcntl(sock, fcntl.F_SETOWN, pid)))
against("F_SETOWN of a group", by_owner(lambda sock, pid: fcntl.fcntl(sock, fcntl.F_SETOWN, -pid)))
against("F_SETOWN_EX", by_owner(f_setown_ex))
against("FIOSETOWN", by_owner(lambda sock, pid: fcntl.ioctl(sock, 0x8901, struct.pack("i", pid))))
against("SIOCSPGRP", by_owner(lambda sock, pid: fcntl.ioctl(sock, 0x8902, struct.pack("i", pid))))
attempt("F_SETSIG", lambda: fcntl.fcntl(0, 10, signal.SIGKILL))
against("process_mrelease", lambda pid: call(448, 448, pid, 0), uncontrolled="needs a dying process")
