# Files in use: locked, mapped, executed, being the working directory of a child.
# want: exit 0
import fcntl
import mmap
import os
import time

file = open("/tmp/used", "w+b")
file.truncate(1 << 20)
memory = mmap.mmap(file.fileno(), 1 << 20)
fcntl.lockf(file, fcntl.LOCK_EX)
os.mkdir("/tmp/inside")
if os.fork() == 0:
    os.setsid()
    os.chdir("/tmp/inside")
    time.sleep(600)
time.sleep(0.05)
