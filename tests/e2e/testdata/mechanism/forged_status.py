# Finds the page in which its worker leaves the exit status, and writes there
# what it likes. That ends its own run, at most.
# want: any
import ctypes
import struct
import time

with open("/proc/self/maps") as maps:
    found = [line for line in maps if "memfd:status" in line or "/memfd:" in line]
print("pages", len(found), flush=True)
for line in found:
    address = int(line.split("-")[0], 16)
    for word in (0xffffffff, 0, 0x80000100, 0x100 | 77 | 0xffff << 16, 0x100 | 77):
        ctypes.memmove(address, struct.pack("=I", word), 4)
time.sleep(0.2)
