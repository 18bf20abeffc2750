import subprocess
import sys

open("draw.py", "w").write("""
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig("child.png")
""")
done = subprocess.run([sys.executable, "draw.py"], capture_output=True, text=True)
assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
assert open("child.png", "rb").read(4) == b"\x89PNG"
print("ok")
