# Replaces its own source file by a link, a pipe and a directory, and removes
# its working directory.
# want: exit 0
# want: stdout "still here\n"
import os
import shutil

for make in (lambda: os.symlink("/etc/shadow", "main.py"), lambda: os.mkfifo("main.py"), lambda: os.mkdir("main.py")):
    os.remove("main.py")
    make()
os.rmdir("main.py")
here = os.getcwd()
os.chdir("/")
shutil.rmtree(here)
os.symlink("/etc", here)
print("still here")
