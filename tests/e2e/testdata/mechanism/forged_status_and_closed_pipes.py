# Says that it is at its end, closes its output, and stays: it is killed at once.
# want: exit 77
import ctypes
import os
import struct
import time

with open("/proc/self/maps") as maps:
    address = next(int(line.split("-")[0], 16) for line in maps if "/memfd:" in line)
ctypes.memmove(address, struct.pack("=I", 0x100 | 77), 4)
os.close(1)
os.close(2)
time.sleep(60)
