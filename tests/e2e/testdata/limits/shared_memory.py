# Shared anonymous memory counts in no limit of a process.
# want: exit 137
# want: note memory_limit
import mmap

kept = []
while True:
    kept.append(mmap.mmap(-1, 16 << 20))
    for offset in range(0, 16 << 20, 4096):
        kept[-1][offset] = 1
