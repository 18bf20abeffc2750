# want: exit 1
# want: note disk_full
import os

with open("big", "wb") as file:
    os.posix_fallocate(file.fileno(), 0, 1 << 40)
