# Directories without any right, nested and full.
# want: exit 0
import os

for top in ("/tmp/closed", "/dev/shm/closed-too", "closed"):
    os.makedirs(top + "/a/b/c")
    for path in ("/a/b/c", "/a/b", "/a", ""):
        open(f"{top}{path}/file", "w").close()
        os.chmod(f"{top}{path}/file", 0)
    for path in ("/a/b/c", "/a/b", "/a", ""):
        os.chmod(top + path, 0)
