# Looks for what an earlier run of this same program left in the kernel, then leaves
# it. One line for each kind: its name, and what was found: new, an errno, or a value
# that must be the same in every run.
import ctypes
import errno
import fcntl
import os
import resource
import signal
import socket
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
kept = []


def say(kind, look):
    try:
        found = look()
    except OSError as error:
        found = errno.errorcode.get(error.errno, error.errno)
    print(kind, "new" if found is None else found, sep="\t")


def call(function, *args):
    ctypes.set_errno(0)
    result = function(*args)
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    kept.append(result)


def lines(path):
    with open(path) as file:
        return len(file.readlines()) - 1


def value(path):
    with open(path) as file:
        return file.read().split()


def write(path, text):
    """Refused is right, whatever the errno: by the mount, by Landlock or by the owner."""
    before = value(path)
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError as error:
        return "refused" if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM) else error.errno
    return f"was {before}, written"


def bind(family, address, kind=socket.SOCK_STREAM):
    sock = socket.socket(family, kind)
    kept.append(sock)
    sock.bind(address)
    if kind == socket.SOCK_STREAM:
        sock.listen()


def connections():
    """Each leaves one in TIME_WAIT, on a port that the next run takes too."""
    for _ in range(5):
        server = socket.create_server(("127.0.0.1", 18081), reuse_port=False)
        client = socket.create_connection(("127.0.0.1", 18081))
        peer, _ = server.accept()
        client.close()
        peer.close()
        server.close()


def counters(path, kind, *names):
    """Headings on one line, numbers on the next."""
    with open(path) as file:
        rows = [line.split() for line in file if line.startswith(kind + ":")]
    table = dict(zip(*rows))
    return " ".join(table.get(name, "none") for name in names)


def interface():
    with open("/proc/net/dev") as file:
        found = [line.split() for line in file if "lo:" in line]
    return " ".join(found[0][i] for i in (1, 2, 9, 10))


def child():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return f"{os.getpid()} {pid}"


def inotify():
    count = 0
    try:
        while True:
            call(libc.inotify_init)
            count += 1
    except OSError as error:
        if not count:
            raise
        return f"{count} {errno.errorcode[error.errno]}"


def lock(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    kept.append(fd)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def limit():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    return None if before[0] != 1 << 20 else "lowered"


def timer():
    before = signal.getitimer(signal.ITIMER_VIRTUAL)[0]
    signal.setitimer(signal.ITIMER_VIRTUAL, 1000)
    return before or None


def queue():
    call(ctypes.CDLL("librt.so.1", use_errno=True).mq_open, b"/left", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666, None)


def keyring():
    arm = os.uname().machine != "x86_64"
    call(libc.syscall, 217 if arm else 248, b"user", b"left", b"left", 4, -4)


def cgroups():
    return " ".join(sorted({line.strip().split(":", 2)[2] for line in open("/proc/self/cgroup")}))


def listing(path, leave):
    names = set(os.listdir(path)) - {os.path.basename(os.getcwd()), ".matplotlib", "left"}  # one directory in some postures
    with open(os.path.join(path, leave), "x"):
        return " ".join(sorted(names)) or None


def priority():
    before = os.nice(0)
    os.nice(5)
    return before or None


KEY = 0x1E47
say("/tmp", lambda: listing("/tmp", "left"))
say("/dev/shm", lambda: listing("/dev/shm", "left too"))
say("working directory", lambda: " ".join(sorted(os.listdir("."))))
say("pids", child)
say("interface", interface)
say("TCP counters", lambda: counters("/proc/net/snmp", "Tcp", "ActiveOpens", "PassiveOpens", "InSegs"))
say("UDP counters", lambda: counters("/proc/net/snmp", "Udp", "InDatagrams", "OutDatagrams"))
say("TIME_WAIT counters", lambda: counters("/proc/net/netstat", "TcpExt", "TW", "TCPTimeouts", "ListenDrops"))
say("TCP table", lambda: lines("/proc/net/tcp"))
say("UDP table", lambda: lines("/proc/net/udp"))
say("unix table", lambda: lines("/proc/net/unix"))
say("shm table", lambda: lines("/proc/sysvipc/shm"))
say("sem table", lambda: lines("/proc/sysvipc/sem"))
say("msg table", lambda: lines("/proc/sysvipc/msg"))
for name in ("kernel/shmmax", "kernel/sem", "kernel/msgmni", "fs/mqueue/queues_max", "fs/mqueue/msg_max", "kernel/hostname",
             "user/max_inotify_instances", "net/ipv4/ip_local_port_range"):
    say("value of " + name, lambda: " ".join(value("/proc/sys/" + name)))
    say("write " + name, lambda: write("/proc/sys/" + name, "1 1 1 1" if name == "kernel/sem" else "1"))
say("shmget", lambda: call(libc.shmget, KEY, 4096, 0o3666))
say("semget", lambda: call(libc.semget, KEY, 1, 0o3666))
say("msgget", lambda: call(libc.msgget, KEY, 0o3666))
say("mq_open", queue)
say("abstract socket", lambda: bind(socket.AF_UNIX, "\0left"))
say("path socket", lambda: bind(socket.AF_UNIX, "/tmp/left.sock"))
say("TCP port", lambda: bind(socket.AF_INET, ("127.0.0.1", 18080)))
say("TCP6 port", lambda: bind(socket.AF_INET6, ("::1", 18080)))
say("UDP port", lambda: bind(socket.AF_INET, ("127.0.0.1", 18080), socket.SOCK_DGRAM))
say("connections", connections)
say("inotify", inotify)
say("lock", lambda: lock("/tmp/lock"))
say("keyring", keyring)
say("cgroups", cgroups)
say("host name", lambda: call(libc.sethostname, b"left", 4))
say("limit", limit)
say("timer", timer)
say("nice", priority)
sys.stdout.flush()
if os.fork() == 0:  # and a process that holds all of it
    os.setsid()
    time.sleep(600)
