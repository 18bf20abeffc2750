# A child forges the status while its parent goes on.
# want: exit 5
# want: stdout "parent\n"
import ctypes
import os
import struct
import sys
import time

with open("/proc/self/maps") as maps:
    address = next(int(line.split("-")[0], 16) for line in maps if "/memfd:" in line)
if os.fork() == 0:
    ctypes.memmove(address, struct.pack("=I", 0x100 | 77), 4)
    os._exit(0)
time.sleep(0.1)
print("parent")
sys.exit(5)
