# As many files as there may be.
# want: exit 0
import os

for directory in ("/tmp", "/dev/shm", "."):
    for n in range(8000):
        try:
            os.close(os.open(f"{directory}/file-{n}", os.O_CREAT, 0))
        except OSError:
            break
