# Fills both directories, removes the names and keeps the files open.
# want: exit 1|137
# want: note disk_full|memory_limit
import os

kept = []
for n in range(200):
    for directory in ("/tmp", "/dev/shm"):
        kept.append(open(f"{directory}/fill", "wb", buffering=0))
        os.unlink(f"{directory}/fill")
        if kept[-1].write(b"x" * (1 << 20)) < 1 << 20:
            os.write(kept[-1].fileno(), b"x")
