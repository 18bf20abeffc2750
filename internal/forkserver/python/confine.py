"""Confinement: the one loop that executes the list of steps."""

import binascii
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


class StepError(Exception):
    def __init__(self, step, errno):
        super().__init__(f"{step}: {os.strerror(errno)}")
        self.step, self.errno = step, errno


def run_steps(steps, fds):
    """Make the system calls of the list; stop at the first unexpected result."""
    for name, number, args, want, bind in steps:
        keep = []  # memory that the kernel reads must outlive the call
        values = [argument(arg, fds, keep) for arg in args]
        result = libc.syscall(ctypes.c_long(number), *values)
        if bind is not None and result >= 0:
            fds[bind] = result
        elif result == -1 or (want is not None and result != want):
            raise StepError(name, ctypes.get_errno() if result == -1 else 0)


def argument(arg, fds, keep):
    if isinstance(arg, int):
        return ctypes.c_long(arg)
    if "fd" in arg:
        return ctypes.c_long(fds[arg["fd"]])
    buffer = memory(arg["bytes"], keep)
    for offset, data in arg.get("pointers", {}).items():
        address = ctypes.addressof(memory(data, keep))
        ctypes.c_void_p.from_buffer(buffer, int(offset)).value = address
    for offset, name in arg.get("fds", {}).items():
        ctypes.c_int.from_buffer(buffer, int(offset)).value = fds[name]
    return ctypes.c_void_p(ctypes.addressof(buffer))


def memory(text, keep):
    data = binascii.a2b_base64(text)
    buffer = ctypes.create_string_buffer(data, max(len(data), 1))
    keep.append(buffer)
    return buffer
