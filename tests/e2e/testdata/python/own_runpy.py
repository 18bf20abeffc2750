# says: child __main__
import os
import runpy
import sys

open("child.py", "w").write("import sys\nprint('child', __name__, sys.argv)\nx = 5\n")
print(runpy.run_path("child.py", run_name="__main__")["x"], __name__)
sys.argv = ["child.py", "argument"]
print(runpy.run_module("child")["x"], os.path.basename(__file__))
