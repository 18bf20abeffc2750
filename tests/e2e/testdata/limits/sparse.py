# want: exit 1
# want: note disk_full
import os

with open("sparse", "wb") as file:
    os.truncate(file.fileno(), 1 << 40)
