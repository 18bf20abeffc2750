# want: exit 1
# want: stderr "Too many open files"
import os

while True:
    os.open("/dev/null", os.O_RDONLY)
