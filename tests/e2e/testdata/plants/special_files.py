# Pipes and sockets: opening one may wait for ever.
# want: exit 0
import os
import stat

os.mkdir("/dev/shm/special")  # it may be the same directory as /tmp
for directory in ("/tmp", "/dev/shm/special", "."):
    for n in range(50):
        os.mkfifo(f"{directory}/fifo-{n}")
        os.mknod(f"{directory}/socket-{n}", stat.S_IFSOCK | 0o600)
