# Sparse, unlinked and full files.
# want: exit 0
import os

kept = []
for directory in ("/tmp", "/dev/shm"):
    for n in range(20):
        fd = os.open(f"{directory}/size-{n}", os.O_CREAT | os.O_RDWR)
        os.truncate(fd, 1 << n)
        os.pwrite(fd, b"x" * 4096, (1 << n) // 2)
        kept.append(fd)
    fd = os.open(directory, os.O_TMPFILE | os.O_RDWR)
    os.write(fd, b"x" * (1 << 20))
