# System V and POSIX objects would outlive a run: none can be made, or all anew.
import ctypes
import mmap
import os
from multiprocessing import shared_memory

libc = ctypes.CDLL(None, use_errno=True)
made = []
for name, call in (("shmget", lambda: libc.shmget(0x1234, 4096, 0o3666)), ("semget", lambda: libc.semget(0x1234, 1, 0o3666)),
                   ("msgget", lambda: libc.msgget(0x1234, 0o3666))):
    if call() != -1:
        made.append(name)
if ctypes.CDLL("librt.so.1", use_errno=True).mq_open(b"/left", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666, None) != -1:
    made.append("mq_open")
try:
    shared_memory.SharedMemory("left", create=True, size=4096)
except FileExistsError:
    made.append("shared memory was there")
print("made", made)
os._exit(0)
