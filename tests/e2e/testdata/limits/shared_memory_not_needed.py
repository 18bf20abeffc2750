# Told that it is not needed, it is unmapped, and still there.
# want: exit 137
# want: note memory_limit
import mmap

kept = []
for _ in range(256):
    kept.append(mmap.mmap(-1, 16 << 20))
    for offset in range(0, 16 << 20, 4096):
        kept[-1][offset] = 1
    kept[-1].madvise(mmap.MADV_DONTNEED)
