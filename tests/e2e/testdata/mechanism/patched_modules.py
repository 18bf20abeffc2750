# Replaces what the runner needs to come to its end.
# want: any
import atexit
import builtins
import gc
import os
import signal
import sys
import threading


def evil(*args, **kwargs):
    raise SystemExit(99)


os._exit = os.getpid = os.kill = os.fork = evil
signal.signal = signal.pthread_sigmask = evil
gc.collect = gc.enable = evil
threading._shutdown = evil
atexit._run_exitfuncs = evil
sys.excepthook = sys.unraisablehook = evil
for name in ("exec", "compile", "print", "isinstance", "open", "len", "set", "vars", "hasattr", "str"):
    setattr(builtins, name, evil)
sys.modules.clear()
sys.stdout = sys.stderr = None
raise ValueError("end")
