# Takes names that the next run could need.
# want: exit 0
import os

for directory in ("/tmp", "/dev/shm"):
    for name in (".matplotlib", "main.py", "matplotlib", os.path.basename(os.getcwd()) + "0", "pymp-0", "tmp"):
        try:
            os.symlink("/etc", f"{directory}/{name}")
        except FileExistsError:
            pass
