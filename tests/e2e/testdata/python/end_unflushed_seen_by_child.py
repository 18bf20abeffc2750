# says: flushed at exit
import os
import subprocess
import sys

open("mine.py", "w").write("""
import os
file = open("out.txt", "w")
file.write("flushed at exit")
""")
if len(sys.argv) == 1:
    print(subprocess.run([sys.executable, "mine.py"]).returncode, open("out.txt").read())
    os.dup2(1, 9)
    left = open(9, "w")
    left.write("flushed at exit, too\n")
