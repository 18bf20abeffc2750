# Each process stays below the limit, all together do not.
# want: exit 137
# want: note memory_limit
import os
import time

for _ in range(20):
    if os.fork() == 0:
        kept = bytearray(b"x") * (40 << 20)
        time.sleep(600)
time.sleep(600)
