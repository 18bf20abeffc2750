# Rights that look as if nothing could be removed.
# want: exit 0
import os

for top in ("/tmp/sticky", "/dev/shm/sticky-too"):
    os.makedirs(top + "/inner")
    for path in ("/inner/file", "/file"):
        os.close(os.open(top + path, os.O_CREAT, 0o400))
    os.chmod(top + "/inner", 0o1500)
    os.chmod(top, 0o1500)
os.chmod(".", 0)
