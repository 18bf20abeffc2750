# Comes before every program that leaves processes behind. They are told apart
# by their name, which children inherit.
import ctypes
import os
import signal
import subprocess
import sys
import time

ctypes.CDLL(None).prctl(15, b"straggler", 0, 0, 0)


def stay():
    while True:
        time.sleep(600)


def daemon():
    """As daemon(3), but it keeps the standard streams open."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        return True
    os.wait()
    return False


