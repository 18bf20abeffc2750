# Tries to get out. Each attempt is harmless where nothing refuses it: no packet
# is sent, no content shown, and signal 0 only asks whether a real one may be sent.
import errno
import os
import resource
import socket


def network():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))


def secret():
    if "DEMO_SECRET" not in os.environ:
        raise FileNotFoundError(errno.ENOENT, "not in os.environ")


def environment(pid):
    open(f"/proc/{pid}/environ", "rb").read()


def memory(pid):
    open(f"/proc/{pid}/mem", "rb").close()


def life(pid):
    os.kill(pid, 0)


def limits(pid):
    resource.prlimit(pid, resource.RLIMIT_NOFILE)


def root():
    os.setuid(0)


def ancestors():  # whoever started this program: the server, and what started that
    pid = os.getppid()
    try:
        while pid > 0:
            yield (pid,)
            with open(f"/proc/{pid}/status") as status:
                pid = int(next(line for line in status if line.startswith("PPid")).split()[1])
    except OSError:
        return


def outcome(attempt, target):
    try:
        attempt(*target)
    except OSError as e:
        return f"refused: {errno.errorcode[e.errno]} ({e.strerror})"
    return "ALLOWED"


server = list(ancestors())
attempts = [
    ("reach the network", network, [()]),
    ("read the server's secret", secret, [()]),
    ("read the server's environment", environment, server),
    ("read the server's memory", memory, server),
    ("kill the server", life, server),
    ("change the server's limits", limits, server),
    ("become root", root, [()]),
]
allowed = 0
for title, attempt, targets in attempts:
    found = {outcome(attempt, target) for target in targets} or {"refused: ESRCH (no such process is visible)"}
    allowed += "ALLOWED" in found
    print(f"{title:30}", ", ".join(sorted(found)))
raise SystemExit(allowed)
