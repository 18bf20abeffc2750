# says: ok
import contextlib
import io
import os
import sys

print("ok")
with contextlib.redirect_stdout(io.StringIO()) as kept:
    print("kept")
print(repr(kept.getvalue()))
sys.stdout = open(os.devnull, "w")
print("nowhere")
sys.stderr.write("seen\n")
