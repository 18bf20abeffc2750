# Links to what must not be touched, to themselves, and hard links.
# want: exit 0
import os

os.mkdir("/dev/shm/links")  # it may be the same directory as /tmp
for directory in ("/tmp", "/dev/shm/links"):
    for name, target in (("etc", "/etc"), ("root", "/"), ("loop", "loop"), ("up", ".."), ("proc", "/proc/self"), ("dangling", "/nowhere")):
        os.symlink(target, f"{directory}/link-to-{name}")
    with open(f"{directory}/one", "w"):
        pass
    for n in range(100):
        os.link(f"{directory}/one", f"{directory}/one-{n}")
