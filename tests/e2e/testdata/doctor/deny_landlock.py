"""Runs a command under a filter that answers Landlock with an errno: as a kernel
without it (ENOSYS), or as a container engine's profile that does not know it (EPERM).
Usage: deny_landlock.py ERRNO COMMAND [ARGUMENT ...]
"""

import ctypes
import os
import struct
import sys

CREATE_RULESET = 444  # on every architecture
program = [
    (0x20, 0, 0, 0),  # load the number of the call
    (0x15, 0, 1, CREATE_RULESET),
    (0x06, 0, 0, 0x00050000 | int(sys.argv[1])),  # SECCOMP_RET_ERRNO
    (0x06, 0, 0, 0x7FFF0000),  # SECCOMP_RET_ALLOW
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *instruction) for instruction in program))
fprog = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2
if libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SECCOMP, FILTER, fprog):
    sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[2], sys.argv[2:])
