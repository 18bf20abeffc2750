# says: True 0 0 0
# says: SIGPIPE
import atexit
import decimal
import faulthandler
import gc
import locale
import logging
import os
import signal
import socket
import sys
import threading
import tracemalloc
import warnings

print(gc.get_threshold(), gc.isenabled(), gc.get_debug(), len(gc.garbage), len(gc.callbacks))
for number in sorted(signal.Signals):
    if signal.getsignal(number) != signal.SIG_DFL:
        print(number.name, signal.getsignal(number))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_REAL), signal.set_wakeup_fd(-1))
print([t.name for t in threading.enumerate()], threading.current_thread() is threading.main_thread(), threading.active_count())
print(threading.stack_size(), threading.main_thread().name, threading.get_ident() == threading.main_thread().ident)
print(atexit._ncallbacks() >= 0, sys.gettrace(), sys.getprofile(), sys.excepthook is sys.__excepthook__)
print(sys.displayhook is sys.__displayhook__, sys.unraisablehook is sys.__unraisablehook__)
print(threading.excepthook.__name__, sys.breakpointhook is sys.__breakpointhook__, hasattr(sys, "last_type"))
print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.dont_write_bytecode, sys.pycache_prefix)
print(faulthandler.is_enabled(), tracemalloc.is_tracing(), decimal.getcontext(), socket.getdefaulttimeout())
print(locale.getlocale(), locale.setlocale(locale.LC_ALL), sys.getfilesystemencoding(), locale.localeconv()["decimal_point"])
print(logging.root.handlers, logging.root.level, logging.lastResort, sorted(logging.root.manager.loggerDict)[:0])
print([(f[0], f[1], f[2].__name__, f[3], f[4]) for f in warnings.filters])
mask = os.umask(0)
print(oct(mask), os.nice(0), sys.stdin.tell if False else "", os.isatty(0))
print(sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:3], sys.getrefcount(None) > 0)
