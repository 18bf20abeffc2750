# Comes before every attack. One line per attempt, in three columns: outcome,
# attempt, detail. The same file also runs as its own control, outside the
# sandbox against victims that it starts: there every attempt must be ALLOWED.
import ctypes
import errno
import json
import os
import platform
import signal
import subprocess
import sys
import time

SETTING = json.loads(sys.stdin.readline())
CONTROL = SETTING["control"]
# The canary is only ever searched for: a program that knew it would find itself.
CANARY = rb"canary-[0-9a-f]{32}"
REFUSALS = {
    errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS, errno.ESRCH, errno.ENOENT, errno.EAFNOSUPPORT,
    errno.ESOCKTNOSUPPORT, errno.EPROTONOSUPPORT, errno.EXDEV, errno.EOPNOTSUPP, errno.EBADF, errno.ENODEV,
}
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
INTEL = platform.machine() == "x86_64"
seen = set()


def report(outcome, name, detail=""):
    if (outcome, name, detail) not in seen:
        seen.add((outcome, name, detail))
        print(outcome, name, detail, sep="\t")


def attempt(name, function, *args, uncontrolled="", answer=None):
    """uncontrolled says why the attempt can't be shown to work elsewhere; answer is
    an errno that is a refusal here and usually is none."""
    if CONTROL and uncontrolled:
        return
    name += " (no control: " + uncontrolled + ")" if uncontrolled else ""
    try:
        detail = function(*args)
    except OSError as error:
        outcome = "refused" if error.errno in REFUSALS or error.errno == answer else "unclear"
        report(outcome, name, errno.errorcode.get(error.errno, repr(error)))
    except Exception as error:
        report("unclear", name, repr(error))
    else:
        target = role(args[0]) if args and isinstance(args[0], int) else ""
        report("ALLOWED", name, f"{target} {'' if detail is None else ' '.join(str(detail).split())[:200]}".strip())


def against(name, function, *args, uncontrolled="", spares=True):
    """The attempt on every process that is not ours (without spares: not on waiting
    workers); as a control, on a victim of its own."""
    if CONTROL and not uncontrolled:
        victim = subprocess.Popen(["sleep", "60"], start_new_session=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  env={"SECRET": "canary-" + os.urandom(16).hex()})
        try:
            attempt(name, function, victim.pid, *args)
        finally:
            os.kill(victim.pid, signal.SIGKILL)  # victim.kill takes one that is traced for dead
            victim.wait()
    elif not CONTROL:
        for pid in strangers():
            if spares or not is_spare(pid):
                attempt(name, function, pid, *args, uncontrolled=uncontrolled)


def strangers():
    """The server, its threads and children as the test knows them, our parent,
    init, and whatever else can be seen."""
    pids = {1, os.getppid(), *SETTING["pids"]}
    pids.update(int(name) for name in os.listdir("/proc") if name.isdigit())
    pids.update(thread for pid in list(pids) for thread in threads_of(pid))
    if not SETTING["spares"]:
        wait_for_spares()
        pids = {pid for pid in pids if not is_spare(pid)}
    return sorted(pids - {os.getpid()})


def wait_for_spares():
    """Until no worker is being made, which has no filter of its own yet: there are
    as many that wait as a moment ago, and all that fork have forked."""
    if not wait_for_spares.done:
        time.sleep(0.5)
        wait_for_spares.done = True


wait_for_spares.done = False


def role(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            lines = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
        return " ".join([str(pid)] + [f"{key} {lines.get(key)}" for key in ("Name", "PPid", "NSsid", "Threads", "Seccomp_filters")])
    except OSError:
        return str(pid)


def threads_of(pid):
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def is_spare(pid):
    """A worker that waits: like ourselves it has one filter more than the server."""
    return filters(pid) == filters("self")


def filters(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((line.split()[1] for line in status if line.startswith("Seccomp_filters")), None)
    except OSError:
        return None


def call(intel, arm, *args):
    """A system call by number: libc may have no wrapper for it, or a different one."""
    ctypes.set_errno(0)
    args = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    result = libc.syscall(ctypes.c_long(intel if INTEL else arm), *args)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
