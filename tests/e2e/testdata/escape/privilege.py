# Becomes root, regains capabilities, makes namespaces and mounts. Prints
# refused for each. As a control it runs as root in namespaces of its own.
# In an own user namespace no other id is mapped.
# except namespaces: EINVAL: setuid [0]; seteuid [0]; setreuid [0, 0]; setresuid [0, 0, 0]; setuid [65531]
# except namespaces: EINVAL: setgid [0]; setegid [0]; setresgid [0, 0, 0]
# These live in its ipc namespace and see its mounts only.
# except namespaces kernel>=6.9: ALLOWED: shmget; semget; msgget; mq_open
# except namespaces: ALLOWED: inotify
import stat
import struct


def change(call, *args):
    """In a child, so that one success does not make the next one easier."""
    pid = os.fork()
    if pid == 0:
        try:
            call(*args)
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
        except BaseException:
            os._exit(255)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        raise OSError(status, os.strerror(status))


def capset(bits):
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    call(126, 91, header, ctypes.create_string_buffer(struct.pack("6I", *[bits] * 6)))


def clone(flags):
    """CLONE_VM is left out: a forked child that ends at once."""
    pid = call(56, 220, flags | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def prctl(option, *args):
    call(157, 167, option, *args, *[0] * (4 - len(args)))


def allow_all():
    """struct sock_fprog with one instruction: return SECCOMP_RET_ALLOW."""
    instruction = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
    prctl(38, 1)
    call(157, 167, 22, 2, ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(instruction))))


def raise_limit():
    call(302, 261, 0, 7, ctypes.create_string_buffer(struct.pack("QQ", 4096, 4096)), None)


def setuid_program(path):
    """What its owner's rights would be good for is not our concern: we only look
    at the uid it runs with, while it waits for a password on its standard input."""
    if not os.stat(path).st_mode & stat.S_ISUID:
        raise PermissionError(errno.EPERM, "no setuid bit")
    program = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               user=None if os.getuid() else 65534)
    try:
        with open(f"/proc/{program.pid}/status") as status:
            uids = next(line for line in status if line.startswith("Uid:")).split()[1:]
    finally:
        program.kill()
        program.wait()
    if "0" not in uids:
        raise PermissionError(errno.EPERM, "ran as " + " ".join(uids))


for what, *args in ((os.setuid, 0), (os.seteuid, 0), (os.setreuid, 0, 0), (os.setresuid, 0, 0, 0), (os.setgid, 0), (os.setegid, 0),
                    (os.setresgid, 0, 0, 0), (os.setgroups, [0]), (os.setuid, 65531)):
    attempt(f"{what.__name__} {args}", change, what, *args)
attempt("capset all", change, capset, 0x3ffffff, uncontrolled="root has them")
attempt("capset CAP_CHOWN", change, capset, 1)
for name, flags in (("NEWNS", 0x20000), ("NEWUTS", 0x4000000), ("NEWIPC", 0x8000000), ("NEWUSER", 0x10000000), ("NEWPID", 0x20000000),
                    ("NEWNET", 0x40000000), ("NEWCGROUP", 0x2000000)):
    attempt("unshare " + name, change, lambda flags: call(272, 97, flags), flags)
    attempt("clone " + name, change, clone, flags)
attempt("clone PARENT", change, clone, 0x8000, uncontrolled="the child would be the test's")
attempt("setns", change, lambda: call(308, 268, os.open("/proc/self/ns/uts", os.O_RDONLY), 0))
attempt("chroot", change, os.chroot, "/")
attempt("mount tmpfs", change, lambda: call(165, 40, b"none", b"/mnt", b"tmpfs", 0, None))
attempt("mount proc", change, lambda: call(165, 40, b"none", b"/mnt", b"proc", 0, None))
attempt("bind mount", change, lambda: call(165, 40, b"/", b"/mnt", None, 4096, None))
attempt("open_tree", change, lambda: call(428, 428, -100, b"/", 1))
attempt("fsopen", change, lambda: call(430, 430, b"tmpfs", 0))
attempt("umount", change, lambda: call(166, 39, b"/proc", 2), uncontrolled="needs a mount to give up")
attempt("pivot_root", change, lambda: call(155, 41, b".", b"."), uncontrolled="needs a mount of its own")
attempt("sethostname", change, lambda: call(170, 161, b"escape", 6))
attempt("personality", change, lambda: call(135, 92, 0x40000))
attempt("not dumpable", change, prctl, 4, 0)
attempt("no parent-death signal", change, prctl, 1, 0)
attempt("a filter of its own", change, allow_all, answer=errno.EINVAL)
attempt("keyctl", change, lambda: call(250, 219, 0, -3, 1), uncontrolled="not in every kernel")
attempt("bpf", change, lambda: call(321, 280, 0, ctypes.create_string_buffer(128), 128), uncontrolled="not in every kernel")
attempt("userfaultfd", change, lambda: call(323, 282, 0), uncontrolled="not in every kernel")
attempt("memfd_create", change, lambda: call(319, 279, b"x", 0))
attempt("inotify", change, lambda: call(294, 26, 0))
attempt("fanotify", change, lambda: call(300, 262, 0, 0), uncontrolled="not in every kernel")
attempt("shmget", change, lambda: call(29, 194, 0, 4096, 0o600))
attempt("semget", change, lambda: call(64, 190, 0, 1, 0o600))
attempt("msgget", change, lambda: call(68, 186, 0, 0o600))
attempt("mq_open", change, lambda: call(240, 180, b"escape", os.O_CREAT | os.O_RDWR, 0o600, None), uncontrolled="not in every kernel")
attempt("reboot", change, lambda: call(169, 142, 0, 0, 0, 0), uncontrolled="not for a test to do")
attempt("set the clock", change, lambda: call(227, 112, 0, ctypes.create_string_buffer(16)), uncontrolled="not for a test to do")
attempt("raise own limits", change, raise_limit, uncontrolled="root may lack the right as well")
attempt("syslog", change, lambda: call(103, 116, 3, ctypes.create_string_buffer(64), 64))
if INTEL:
    attempt("x32 getpid", change, lambda: call(0x40000000 | 39, 0), uncontrolled="not in every kernel")
    attempt("modify_ldt", change, lambda: call(154, 0, 0, ctypes.create_string_buffer(64), 64))
    attempt("ioperm", change, lambda: call(173, 0, 0x80, 1, 1), uncontrolled="not in every kernel")
attempt("run a setuid program", setuid_program, "/usr/bin/su")
