# Attempts what a program must not be able to do. Silence but for the last line
# means that every attempt was refused.
import ctypes
import errno
import os
import socket

import colorsys  # noqa: F401, not preloaded: the worker itself must be able to read the library

server, bounding = input().split()
server = int(server)
libc = ctypes.CDLL(None, use_errno=True)
PRLIMIT64, PTRACE = (302, 101) if os.uname().machine == "x86_64" else (261, 117)
PTRACE_SEIZE = 0x4206  # attaches without a stop


def forbidden(what, attempt):
    try:
        attempt()
    except OSError:
        return
    print("not refused:", what)


def call(*args):
    if libc.syscall(*args) == -1:
        raise OSError(ctypes.get_errno(), "")


def capabilities(name):
    for line in open("/proc/self/status"):
        if line.startswith(name):
            return int(line.split()[1], 16)


def write_file(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    os.unlink(path)


def connect(family):
    socket.socket(family, socket.SOCK_STREAM)


if 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid()) or os.getgroups() not in ([], [os.getgid()]):
    print("not refused: running as root, or with groups", os.getuid(), os.getgid(), os.getgroups())
if capabilities("CapEff") or capabilities("CapPrm") or capabilities("CapInh") or capabilities("CapAmb"):
    print("not refused: capabilities")
if bounding == "true" and capabilities("CapBnd"):
    print("not refused: a bounding set")
if capabilities("NoNewPrivs") != 1 or capabilities("Seccomp") != 2:
    print("not refused: new privileges, or every system call")

forbidden("setuid(0)", lambda: os.setuid(0))
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_VSOCK, socket.AF_PACKET, socket.AF_UNIX):
    forbidden(f"socket({family!r})", lambda: connect(family))
for pid in {server, os.getppid()}:
    for name in ("environ", "mem", "maps", "auxv"):
        forbidden(f"read of the server's {name}", lambda: os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY)))
    forbidden("listing the server's descriptors", lambda: os.listdir(f"/proc/{pid}/fd"))
    forbidden("a signal to the server", lambda: os.kill(pid, 0))
    forbidden("new limits for the server", lambda: call(PRLIMIT64, pid, 7, None, None))
    forbidden("ptrace of the server", lambda: call(PTRACE, PTRACE_SEIZE, pid, None, None))
for directory in ("/", "/usr", "/etc", "/dev", "/var/tmp"):
    forbidden(f"write to {directory}", lambda: write_file(os.path.join(directory, "mcp-exec-self-test")))
for path in ("/etc/shadow", "/etc/hostname", "/root", "/home", "/var/log", "/sys/kernel", "/run"):
    forbidden(f"read of {path}", lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())
open_descriptors = []
for fd in range(3, 1024):
    try:
        os.fstat(fd)
        open_descriptors.append(fd)
    except OSError as error:
        assert error.errno == errno.EBADF
if open_descriptors:
    print("not refused: inherited descriptors", open_descriptors)
print("tried")
