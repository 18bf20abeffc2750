# Looks for what an earlier run of this same program left, then leaves it.
import asyncio
import builtins
import ctypes
import decimal
import gc
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import warnings

libc = ctypes.CDLL(None, use_errno=True)
found = []


def kind(name, there, leave):
    try:
        if there():
            found.append(name)
    except Exception as error:
        found.append(f"{name}: {error!r}")
    try:
        leave()
    except Exception as error:
        print("not left:", name, repr(error), file=sys.stderr)


def attribute(thing, name):
    return (lambda: hasattr(thing, name), lambda: setattr(thing, name, "left"))


def file(path):
    return (lambda: os.path.lexists(path), lambda: os.close(os.open(path, os.O_CREAT, 0)))


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read().strip()
    except OSError:
        return ""


def child():
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid() and name_of(pid) == "left"]


for thing in (builtins, json, os, sys, json.JSONEncoder, os.environ, threading.main_thread(), tempfile, sys.modules["__main__"]):
    kind(f"attribute of {thing!r:.40}", *attribute(thing, "left_here"))
for path in ("/tmp/left", "/dev/shm/left-too", os.path.join(os.path.dirname(os.getcwd()), "left-three"), "left.py", "/tmp/.hidden"):
    kind("file " + os.path.basename(path), *file(path))
kind("os.environ", lambda: "LEFT" in os.environ, lambda: os.environ.update(LEFT="1"))
kind("putenv", lambda: libc.getenv(b"LEFT_C"), lambda: libc.setenv(b"LEFT_C", b"1", 1))
kind("sys.modules", lambda: "left" in sys.modules, lambda: sys.modules.update(left=json))
kind("sys.path", lambda: "left" in sys.path, lambda: sys.path.append("left"))
kind("sys.meta_path", lambda: "left" in sys.meta_path, lambda: sys.meta_path.append("left"))
kind("path_importer_cache", lambda: "left" in sys.path_importer_cache, lambda: sys.path_importer_cache.update(left=None))
kind("umask", lambda: os.umask(0o022) == 0o077, lambda: os.umask(0o077))
kind("signal handler", lambda: signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN, lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN))
kind("signal mask", lambda: signal.SIGUSR2 in signal.pthread_sigmask(signal.SIG_BLOCK, []), lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2]))
kind("timer", lambda: signal.getitimer(signal.ITIMER_REAL)[0] > 0, lambda: signal.setitimer(signal.ITIMER_REAL, 1000))
kind("limit", lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 123, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (123, 123)))
kind("nice", lambda: os.nice(0) == 7, lambda: os.nice(7))
kind("name of the process", lambda: name_of("self") == "left", lambda: libc.prctl(15, b"left", 0, 0, 0))
kind("recursion limit", lambda: sys.getrecursionlimit() == 4321, lambda: sys.setrecursionlimit(4321))
kind("switch interval", lambda: sys.getswitchinterval() == 0.25, lambda: sys.setswitchinterval(0.25))
kind("decimal context", lambda: decimal.getcontext().prec == 5, lambda: setattr(decimal.getcontext(), "prec", 5))
kind("warnings", lambda: warnings.filters[0][0] == "error", lambda: warnings.simplefilter("error"))
kind("gc threshold", lambda: gc.get_threshold()[0] == 77, lambda: gc.set_threshold(77))
kind("gc callback", lambda: gc.callbacks, lambda: gc.callbacks.append(lambda *args: None))
kind("excepthook", lambda: sys.excepthook is not sys.__excepthook__, lambda: setattr(sys, "excepthook", print))
kind("tempdir", lambda: tempfile.tempdir == "/left", lambda: setattr(tempfile, "tempdir", "/left"))
kind("event loop policy", lambda: getattr(asyncio, "left", None), lambda: setattr(asyncio, "left", 1))
kind("time zone", lambda: time.tzname[0] == "LEFT", lambda: (os.environ.update(TZ="LEFT0"), time.tzset()))
kind("working directory", lambda: os.getcwd() == "/usr", lambda: os.chdir("/usr"))
kind("thread", lambda: threading.active_count() > 1, lambda: threading.Thread(target=time.sleep, args=(600,), daemon=True).start())
kind("child", child, lambda: os.fork() or time.sleep(600))
if "numpy" in sys.modules:
    import numpy

    kind("numpy error state", lambda: numpy.geterr()["divide"] == "raise", lambda: numpy.seterr(divide="raise"))
    kind("numpy print options", lambda: numpy.get_printoptions()["precision"] == 3, lambda: numpy.set_printoptions(precision=3))
print("found", found)
