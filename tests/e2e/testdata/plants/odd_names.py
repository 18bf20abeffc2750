# Names that a shell, a log or a list of directories might trip over.
# want: exit 0
import os

os.mkdir("/dev/shm/odd")  # it may be the same directory as /tmp
for directory in (b"/tmp/", b"/dev/shm/odd/", b""):
    for name in (b" ", b"-rf", b"...", b"\n", b"\xff\xfe", b"*", b"a" * 255, b"main.py ", b".sweep-0-1", b"$(id)", "é".encode()):
        os.mkdir(directory + name)
        open(directory + name + b"/" + name, "w").close()
