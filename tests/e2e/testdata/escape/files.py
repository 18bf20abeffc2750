# Reads files that are none of a program's business, and writes outside its own
# directory. Prints refused for each. As a control it reads the same files, and
# writes in a directory that the test made for it.
# truncate(2) needs no descriptor and is mediated from ABI 3 (Linux 6.2) on; only a
# file that everybody may write to is in danger.
# except landlock natively abi<3: ALLOWED: truncate
# A root of its own shows what every program needs, and nothing of the host's: see
# what is looked for in it below.
# except namespaces: ALLOWED: read /; read /etc; read /etc/passwd; read /dev
# The message queues of its own ipc namespace are files.
# except namespaces kernel>=6.9: ALLOWED /dev/mqueue: create a file outside
# Without Landlock what the container shows can be read: the image, and its terminals.
# except container: ALLOWED: read /; read /boot; read /dev; read /dev/ptmx; read /etc; read /etc/hostname; read /etc/passwd
# except container: ALLOWED: read /home; read /run; read /srv; read /sys; read /sys/fs/cgroup; read /sys/kernel/debug
# except container: ALLOWED: read /var; read /var/log; read /var/tmp
# except container: ALLOWED: find what is the host's in /; find what is the host's in /dev; find what is the host's in /etc; find a user of the host
# except container: ENXIO: read /dev/tty
# except container: ALLOWED: write /proc/self/oom_score_adj
# except container: EINVAL: write /proc/self/attr/current
# That is /dev/mqueue, where RLIMIT_MSGQUEUE allows no queue.
# except container: EMFILE: create a file outside
import stat

OUTSIDE = SETTING["outside"]  # directories to write in


# Where a program has a root of its own, this is all that may be in it.
OWN = {
    "/": {"bin", "dev", "etc", "gnu", "lib", "lib64", "nix", "proc", "sbin", "tmp", "usr"},
    "/dev": {"fd", "full", "mqueue", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"},
    "/etc": {"alternatives", "fonts", "group", "hosts", "ld.so.cache", "localtime", "mime.types", "nsswitch.conf", "passwd", "ssl", "timezone"},
}
USERS = {"root", "sandbox"}
# An interpreter may lie anywhere: then the way to it is there.
INTERPRETERS = [path for name in (sys.prefix, sys.base_prefix, sys.executable) for path in (name, os.path.realpath(name))]


def to_interpreter(path):
    return any(interpreter.startswith(path + "/") or interpreter == path for interpreter in INTERPRETERS)


def entries(directory):
    return {name for name in os.listdir(directory) if CONTROL or not to_interpreter(os.path.join(directory, name))}


def read(path):
    if os.path.isdir(path):
        found = entries(path)
        if not found and os.listdir(path):
            raise FileNotFoundError(errno.ENOENT, "nothing but the way to the interpreter")
        return sorted(found)[:1]
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        return len(os.read(fd, 64))
    except BlockingIOError:
        return "open"
    finally:
        os.close(fd)


def host_entries(directory):
    found = entries(directory) - OWN[directory]
    if not found:
        raise FileNotFoundError(errno.ENOENT, "nothing of the host's")
    return sorted(found)


def host_users():
    with open("/etc/passwd") as file:
        found = {line.split(":")[0] for line in file} - USERS
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no user of the host")
    return sorted(found)


def create(directory):
    path = os.path.join(directory, "escape")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))
    os.unlink(path)
    return directory


def unnamed(directory):
    os.close(os.open(directory, os.O_WRONLY | os.O_TMPFILE, 0o600))


def make(function, *args):
    def attack(directory):
        path = os.path.join(directory, "escape-" + str(os.getpid()))
        function(*args, path)
        (os.rmdir if stat.S_ISDIR(os.lstat(path).st_mode) else os.unlink)(path)
    return attack


def hard_link(path):
    """Of a file outside, into our own directory: then its mode could be changed, or it be kept."""
    os.link(path, "linked")
    os.unlink("linked")


def through_link(path):
    os.symlink(path, "through")
    try:
        with open("through", "ab"):
            pass
    finally:
        os.unlink("through")


def rename_out(directory):
    with open("inner", "w"):
        pass
    os.rename("inner", os.path.join(directory, "escape"))
    os.unlink(os.path.join(directory, "escape"))


def by_handle(path):
    """struct file_handle of 128 bytes, then open_by_handle_at."""
    handle = ctypes.create_string_buffer((128).to_bytes(4, sys.byteorder), 136)
    mount = ctypes.c_int()
    call(303, 264, -100, ctypes.c_char_p(path.encode()), handle, ctypes.byref(mount), 0)
    directory = os.open("/", os.O_RDONLY)
    os.close(call(304, 265, directory, handle, os.O_RDONLY))


def restore_mode(function):
    def attack(path):
        before = os.stat(path)
        function(path)
        os.chmod(path, before.st_mode)
    return attack


def device(path):
    os.mknod("device", 0o666 | stat.S_IFCHR, os.makedev(1, 1))
    os.unlink("device")


def write(path):
    with open(path, "r+b", buffering=0) as file:
        text = file.read(256)
        file.seek(0)
        file.write(text)


if CONTROL:
    os.chdir(OUTSIDE[0])
for path in SETTING["private"]:
    attempt(f"read a file {os.path.basename(path)}", read, path)
for path in ("/etc/shadow", "/etc/passwd", "/etc/hostname", "/etc", "/root", "/home", "/var", "/var/log", "/run", "/sys", "/sys/fs/cgroup",
             "/dev", "/", "/boot", "/opt", "/srv", "/var/tmp"):
    attempt(f"read {path}", read, path, uncontrolled="" if os.path.exists(path) else "not on every system")
for path in OWN:
    attempt(f"find what is the host's in {path}", host_entries, path)
attempt("find a user of the host", host_users)
for path in ("/var/run/secrets", "/var/run/docker.sock", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/kvm", "/dev/fuse",
             "/dev/net/tun", "/dev/ptmx", "/dev/tty", "/sys/kernel/debug", "/proc/kcore", "/proc/kmsg", "/proc/1/root/etc/shadow"):
    attempt(f"read {path}", read, path, uncontrolled="not on every system")
for directory in OUTSIDE:
    attempt("create a file outside", create, directory)
    attempt("create an unnamed file outside", unnamed, directory)
    attempt("mkdir outside", make(os.mkdir), directory)
    attempt("mkfifo outside", make(os.mkfifo), directory)
    attempt("symlink outside", make(os.symlink, "/etc"), directory)
    attempt("rename out", rename_out, directory)
for path in SETTING["private"][:1]:
    attempt("hard link in", hard_link, path, uncontrolled="on another file system")
    attempt("write through a link", through_link, path)
    attempt("truncate", lambda path: os.truncate(path, os.path.getsize(path)), path)
    attempt("append", lambda path: open(path, "ab").close(), path)
    attempt("open by handle", by_handle, path)
for path in SETTING["private"][1:]:
    attempt("chmod", restore_mode(lambda path: os.chmod(path, 0o777)), path)
    attempt("chown", lambda path: os.chown(path, os.getuid(), os.getgid()), path)
    attempt("utime", lambda path: os.utime(path), path)
    attempt("set an attribute", lambda path: os.setxattr(path, b"user.escape", b"1"), path, uncontrolled="not on every file system")
attempt("make a device node", device, ".")
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/swappiness"):
    attempt(f"write {path}", write, path)
for path in ("/proc/sys/kernel/shmmax", "/proc/sysrq-trigger", "/proc/self/oom_score_adj", "/proc/self/uid_map", "/proc/self/setgroups",
             "/proc/self/attr/current", "/sys/fs/cgroup/cgroup.procs", "/sys/power/state", "/dev/shm/../../etc/passwd"):
    attempt(f"write {path}", write, path, uncontrolled="not for a test to change")
for fd in (0, 1, 2):
    attempt(f"make a terminal type into us through {fd}", lambda fd: call(16, 29, fd, 0x5412, ctypes.c_char_p(b"x")), fd, uncontrolled="needs a terminal")
