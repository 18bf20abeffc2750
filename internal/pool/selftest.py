"""Attempts what a program must not be able to do. One JSON line for each attempt:
what it would break, what was tried, whether that was refused, and how.

Every attempt does no harm where it succeeds: signal 0, the same limits again, a
file that is removed at once. The facts that it depends on are on stdin.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys

import colorsys  # noqa: F401, not preloaded: the worker itself must be able to read the library

FACTS = json.load(sys.stdin)
NAMESPACES = FACTS["namespaces"]  # own network, processes, ipc and file system

# EFAULT, EINVAL and the like are no refusals: the kernel has begun to do it.
REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS, errno.ENOENT, errno.ESRCH, errno.EAFNOSUPPORT}
REFUSALS |= {errno.ESOCKTNOSUPPORT, errno.EPROTONOSUPPORT, errno.EOPNOTSUPP}
NO_ROUTE = {errno.ENETUNREACH, errno.EADDRNOTAVAIL}

NUMBERS = {  # of system calls, on x86-64 and arm64
    "bpf": (321, 280), "capget": (125, 90), "capset": (126, 91), "chroot": (161, 51), "io_uring_setup": (425, 425),
    "ioprio_set": (251, 30), "kcmp": (312, 272), "keyctl": (250, 219), "memfd_create": (319, 279), "mlock": (149, 228),
    "mount": (165, 40), "mq_open": (240, 180), "msgget": (68, 186), "name_to_handle_at": (303, 264),
    "open_tree": (428, 428), "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "prctl": (157, 167), "prlimit64": (302, 261),
    "process_vm_readv": (310, 270), "ptrace": (101, 117), "sethostname": (170, 161), "shmget": (29, 194),
    "tgkill": (234, 131), "unshare": (272, 97), "userfaultfd": (323, 282), "unknown": (1000, 1000),
    "x32 getpid": (0x40000000 | 39, 1000),
}  # fmt: skip
NO_NEW_PRIVS = 39  # PR_GET_NO_NEW_PRIVS
INTEL = os.uname().machine == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def line(protection, attempt, ok, detail):
    print(json.dumps({"protection": protection, "attempt": attempt, "ok": bool(ok), "detail": str(detail)[:150]}))


def refused(protection, attempt, act, *args, also=()):
    """The attempt must end in an errno that says no."""
    try:
        act(*args)
    except OSError as error:
        ok = error.errno in REFUSALS or error.errno in also
        line(protection, attempt, ok, errno.errorcode.get(error.errno, repr(error)))
    else:
        line(protection, attempt, False, "not refused")


def nothing(protection, attempt, found):
    """The look must find nothing."""
    line(protection, attempt, not found, "found " + ", ".join(map(str, sorted(found))) if found else "none")


def call(name, *args):
    args = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    args += [ctypes.c_long(0)] * (6 - len(args))
    result = libc.syscall(ctypes.c_long(NUMBERS[name][0 if INTEL else 1]), *args)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result


def read_file(path):
    with open(path, "rb", buffering=0) as file:
        return file.read(64)


def write_file(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    os.unlink(path)


def open_to_write(path):
    os.close(os.open(path, os.O_WRONLY))


def others():
    """Processes that are not the program's: the server, and what is above us."""
    pids = {1: "init", os.getppid(): "the parent", FACTS["server"]: "the server"}
    if NAMESPACES:
        pids = {1: "init"}  # the server has no number here
    pids.pop(os.getpid(), None)
    return {pid: name for pid, name in pids.items() if pid > 0}



def no_network():
    protection = "no network"
    families = {"AF_NETLINK": 16, "AF_PACKET": 17, "AF_ALG": 38, "AF_VSOCK": 40}
    if NAMESPACES:
        outside(protection)
    else:
        families.update({"AF_INET": 2, "AF_INET6": 10, "AF_UNIX": 1})
        refused(protection, "make a datagram pair, which sends to any path", socket.socketpair, 1, socket.SOCK_DGRAM)
    kinds = {"AF_NETLINK": socket.SOCK_RAW, "AF_PACKET": socket.SOCK_RAW, "AF_ALG": socket.SOCK_SEQPACKET}
    for name, family in families.items():
        kind = kinds.get(name, socket.SOCK_STREAM)
        refused(protection, f"make a socket of {name}", lambda: socket.socket(family, kind).close())


def outside(protection):
    """Where localhost works, nothing else does."""
    nothing(protection, "find an interface besides lo", interfaces() - {"lo"})
    for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        refused(protection, f"connect {address}", reach, family, socket.SOCK_STREAM, address, also=NO_ROUTE)
        refused(protection, f"sendto {address}", reach, family, socket.SOCK_DGRAM, address, also=NO_ROUTE)


def reach(family, kind, address):
    with socket.socket(family, kind) as sock:
        sock.settimeout(0.2)
        if kind == socket.SOCK_STREAM:
            sock.connect((address, 9))
        else:
            sock.sendto(b"x", (address, 9))


def interfaces():
    """Those that are up: some modules put one that is down into every namespace."""
    GET_FLAGS, UP = 0x8913, 1
    found = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for index in range(1, 64):
            try:
                name = socket.if_indextoname(index)
                answer = fcntl.ioctl(sock, GET_FLAGS, struct.pack("16sH14x", name.encode(), 0))
            except OSError:
                continue
            if struct.unpack("16sH14x", answer)[1] & UP:
                found.add(name)
    return found


def not_root():
    protection = "not root"
    nothing(protection, "have uid 0", {uid for uid in os.getresuid() if uid == 0})
    nothing(protection, "have gid 0", {gid for gid in os.getresgid() if gid == 0})
    nothing(protection, "have further groups", set(os.getgroups()) - {os.getgid()} - nobodys_groups())
    for act, value in ((os.setuid, 0), (os.setgid, 0), (os.setgroups, [0])):
        refused(protection, f"{act.__name__} 0", act, value, also={errno.EINVAL})  # where 0 is not mapped


def nobodys_groups():
    """An ordinary user can't leave its groups: in a user namespace they are nobody's."""
    return {int(read_file("/proc/sys/kernel/overflowgid"))} if NAMESPACES else set()


def no_capabilities():
    protection = "no capabilities"
    with open("mine", "w") as file:
        os.fchmod(file.fileno(), 0)
    refused(protection, "CAP_CHOWN: give a file away", os.chown, "mine", os.getuid() + 1, -1, also={errno.EINVAL})
    refused(protection, "CAP_DAC_OVERRIDE: open a closed file", read_file, "mine")
    os.unlink("mine")
    refused(protection, "CAP_SYS_NICE: a better priority", os.setpriority, os.PRIO_PROCESS, 0, -1)
    refused(protection, "CAP_IPC_LOCK: lock memory", call, "mlock", ctypes.create_string_buffer(99), 99)
    refused(protection, "CAP_SYS_CHROOT: chroot", call, "chroot", b"/")
    refused(protection, "CAP_SYS_ADMIN: mount", call, "mount", b"none", b".", b"tmpfs")
    refused(protection, "capset: regain CAP_CHOWN", regain, 1)
    refused(protection, "prctl: raise an ambient one", call, "prctl", 47, 2, 0)
    bounding_set(protection)


def regain(bits):
    header = struct.pack("Ii", 0x20080522, 0)
    data = ctypes.create_string_buffer(24)
    call("capget", header, data)
    sets = list(struct.unpack("6I", data.raw))
    sets[0], sets[1] = sets[0] | bits, sets[1] | bits  # effective, permitted
    call("capset", header, struct.pack("6I", *sets))


def bounding_set(protection):
    held = {capability for capability in range(64) if in_bounding_set(capability)}
    kept = not FACTS["bounding"] and call("prctl", NO_NEW_PRIVS) == 1
    detail = "some, out of reach under no_new_privs" if held and kept else f"found {len(held)}" if held else "none"
    line(protection, "find one in the bounding set", not held or kept, detail)


def in_bounding_set(capability):
    try:
        return call("prctl", 23, capability) == 1  # PR_CAPBSET_READ
    except OSError:
        return False  # above the last one


def no_new_privileges():
    protection = "no new privileges"
    program, attempt = set_uid_program(), "run a set-uid root program"
    if program and FACTS["processes"] > 1:
        uids = uids_of(program)
        line(protection, attempt, "0" not in uids, f"{program} runs as uid " + " ".join(sorted(set(uids))))
    else:
        line(protection, attempt, True, "a second process is not allowed" if program else "there is none")
    nothing(protection, "find it not set (PR_GET_NO_NEW_PRIVS)", {1} - {call("prctl", NO_NEW_PRIVS)})


def set_uid_program():
    for directory in ("/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin"):
        for name in ("mount", "umount", "su", "newgrp", "passwd", "chsh", "chfn", "gpasswd", "sudo", "fusermount3"):
            path = os.path.join(directory, name)
            try:
                status = os.stat(path)
            except OSError:
                continue
            if status.st_mode & stat.S_ISUID and (NAMESPACES or status.st_uid == 0) and os.access(path, os.X_OK):
                return path
    return None


def uids_of(program):
    """Real, effective, saved and file system uid that it ended with: a dead
    process shows them until it is waited for."""
    child = subprocess.Popen([program, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)  # fmt: skip
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    try:
        with open(f"/proc/{child.pid}/status") as status:
            return next(text for text in status if text.startswith("Uid:")).split()[1:]
    except OSError:
        return ["0"]  # hidden from us: not ours any more
    finally:
        child.wait()


def read_only_system():
    protection = "read-only system"
    library = os.path.realpath(os.__file__)
    for directory in ("/", "/usr", "/usr/bin", "/etc", "/dev", "/var", "/var/tmp", os.path.dirname(library)):
        refused(protection, f"make a file in {directory}", write_file, os.path.join(directory, "mcp-exec-self-test"))
    for path in (library, "/proc/sys/kernel/core_pattern"):
        refused(protection, f"open {path} to write", open_to_write, path)


def outside_read_list():
    protection = "files outside the read list"
    if not FACTS["read_list"]:
        return  # this posture has none
    paths = ["/etc/shadow", "/root", "/home", "/sys/kernel", "/run"]
    if not NAMESPACES:  # else the server put into these what may be seen
        paths += ["/etc/passwd", "/etc/hostname", "/var/log", "/"]
    for path in paths:
        if leads(path):
            nothing(protection, f"read {path} beside what leads to Python", set(os.listdir(path)) - leads(path))
        else:
            refused(protection, f"read {path}", lambda: os.listdir(path) if os.path.isdir(path) else read_file(path))


def leads(path):
    """What is in a directory because something that a program needs lies below."""
    return {entry[len(path) + 1 :].split("/")[0] for entry in FACTS["root"] or () if entry.startswith(path + "/")}


def private_directory():
    protection = "private directory"
    nothing(protection, "find a file of others in the working directory", set(os.listdir(".")) - {"main.py"})
    own = {os.path.basename(os.getcwd())} | leads(os.environ["TMPDIR"])  # Python may lie there
    for directory in {os.path.realpath(os.environ["TMPDIR"]), os.path.realpath("/tmp"), "/dev/shm"}:
        try:
            names = set(os.listdir(directory)) - own
        except OSError:
            names = set()
        nothing(protection, f"find a file of others in {directory}", names)
    write_file("mcp-exec-self-test")  # what must work


def environment_from_nothing():
    protection = "environment from nothing"
    known = set(FACTS["environment"])
    nothing(protection, "find a variable of the server in os.environ", set(os.environ) - known)
    with open("/proc/self/environ", "rb") as file:
        names = {pair.split(b"=")[0].decode(errors="replace") for pair in file.read().split(b"\0") if pair}
    nothing(protection, "find one in /proc/self/environ", names - known)


def no_descriptors():
    nothing("no inherited descriptors", "find one from 3 to 1023", {fd for fd in range(3, 1024) if is_open(fd)})


def is_open(fd):
    try:
        os.fstat(fd)
    except OSError as error:
        return error.errno != errno.EBADF
    return True


def memory_of_others():
    protection = "server's memory and environment"
    for pid, name in others().items():
        for file in ("environ", "mem", "maps", "auxv"):
            refused(protection, f"open {file} of {name}", lambda: os.close(os.open(f"/proc/{pid}/{file}", os.O_RDONLY)))
        refused(protection, f"follow a descriptor of {name}", os.readlink, f"/proc/{pid}/fd/0")
        if name != "init" or NAMESPACES:  # elsewhere it may be none of ours: numbers, if it has our uid
            refused(protection, f"list descriptors of {name}", os.listdir, f"/proc/{pid}/fd")
        refused(protection, f"list files of {name} by its root", os.listdir, f"/proc/{pid}/root/")
        refused(protection, f"process_vm_readv of {name}", read_memory, pid)


def read_memory(pid):
    """At an address that is never mapped: EFAULT where the right is there."""
    buffer = ctypes.create_string_buffer(1)
    here, there = struct.pack("PL", ctypes.addressof(buffer), 1), struct.pack("PL", 16, 1)
    call("process_vm_readv", pid, here, 1, there, 1, 0)


def signals_to_others():
    protection = "server can't be signalled"
    if NAMESPACES:
        visible = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}
        nothing(protection, "find a process in /proc", visible)
        nothing(protection, "have another parent than this slot's init", {os.getppid()} - {1})
        nothing(protection, "signal any other process", {pid for pid in range(2, 2000) if reachable(pid)})
        kill_quietly(1)
        line(protection, "end this slot's init", True, "it goes on")
        return
    for pid, name in others().items():
        refused(protection, f"kill {name}", os.kill, pid, 0)
        refused(protection, f"tgkill {name}", call, "tgkill", pid, pid, 0)
        refused(protection, f"pidfd_send_signal to {name}", by_pidfd, "pidfd_send_signal", pid, 0)


def kill_quietly(pid):
    try:
        os.kill(pid, signal.SIGKILL)  # if it works, so do we end
    except OSError:
        pass


def reachable(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is there all the same
    return pid != os.getpid()


def by_pidfd(name, pid, argument):
    fd = call("pidfd_open", pid)
    try:
        return call(name, fd, argument)
    finally:
        os.close(fd)


def traces():
    protection = "server can't be traced"
    SEIZE = 0x4206  # attaches without a stop
    for pid, name in others().items():
        refused(protection, f"ptrace {name}", call, "ptrace", SEIZE, pid)
        refused(protection, f"open memory of {name} to write", open_to_write, f"/proc/{pid}/mem")
        refused(protection, f"pidfd_getfd of {name}", by_pidfd, "pidfd_getfd", pid, 0)
        refused(protection, f"kcmp with {name}", call, "kcmp", os.getpid(), pid, 1)


def slowing():
    protection, nice = "server can't be slowed", os.getpriority(os.PRIO_PROCESS, 0)
    for pid, name in others().items():
        refused(protection, f"limits of {name}", call, "prlimit64", pid, resource.RLIMIT_NOFILE)
        refused(protection, f"priority of {name}", os.setpriority, os.PRIO_PROCESS, pid, nice)
        refused(protection, f"processors of {name}", lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)))
        refused(protection, f"scheduler of {name}", os.sched_setscheduler, pid, os.SCHED_OTHER, os.sched_param(0))
        refused(protection, f"disk priority of {name}", call, "ioprio_set", 1, pid, 2 << 13 | 4)


def limits():
    """Met by programs of their own; here, that they are there and stay."""
    for protection, what, most in (("CPU", resource.RLIMIT_CPU, None), ("memory", resource.RLIMIT_DATA, None),
                                   ("file size", resource.RLIMIT_FSIZE, FACTS["file_bytes"]),
                                   ("open files", resource.RLIMIT_NOFILE, FACTS["open_files"])):  # fmt: skip
        hard = resource.getrlimit(what)[1]
        if hard == resource.RLIM_INFINITY or most and hard > most:
            line(protection, "raise the limit", False, "it is higher, or there is none")
        else:
            refused(protection, "raise the limit", call, "prlimit64", 0, what, struct.pack("QQ", hard + 1, hard + 1))


def system_calls():
    protection = "system calls"
    buffer = ctypes.create_string_buffer(128)
    for name, *args in (("io_uring_setup", 1, buffer), ("bpf", 0, buffer, 128), ("userfaultfd", 0),
                        ("perf_event_open", buffer, 0, -1, -1, 0), ("memfd_create", b"x", 0),
                        ("open_tree", -100, b"/", 1), ("name_to_handle_at", -100, b"/", buffer, buffer, 0),
                        ("personality", 0x40000), ("sethostname", b"x", 1), ("unknown",), ("x32 getpid",)):  # fmt: skip
        refused(protection, name, call, name, *args)
    core = struct.pack("QQ", 1, 1)
    refused(protection, "change the limit of core dumps", call, "prlimit64", 0, resource.RLIMIT_CORE, core)
    refused(protection, "make a device", os.mknod, "device", stat.S_IFCHR | 0o600, os.makedev(1, 3))


def shared_objects():
    protection = "nothing shared between runs"
    refused(protection, "keyctl: the session's keyring", call, "keyctl", 0, -3, 1)
    if not FACTS["own_ipc"]:
        refused(protection, "shmget", call, "shmget", 0, 4096, 0o600)
        refused(protection, "msgget", call, "msgget", 0, 0o600)
        refused(protection, "mq_open", call, "mq_open", b"mcp-exec-self-test", os.O_CREAT | os.O_RDWR, 0o600)


def namespaces():
    """Last: where it is not refused, what follows would prove nothing."""
    for name, flag in (("mount", 0x20000), ("network", 0x40000000), ("user", 0x10000000)):
        refused("system calls", f"unshare: a {name} namespace", call, "unshare", flag)


for protection in (private_directory, no_network, not_root, no_capabilities, no_new_privileges, read_only_system,
                   outside_read_list, environment_from_nothing, no_descriptors, memory_of_others, signals_to_others,
                   traces, slowing, limits, shared_objects, system_calls, namespaces):  # fmt: skip
    protection()
