# says: helper ['helper.py', 'x'] __main__
import subprocess
import sys

open("helper.py", "w").write("import sys\nprint('helper', sys.argv, __name__)\nimport os; print(os.getcwd() == sys.path[0])\n")
print(subprocess.run([sys.executable, "helper.py", "x"], capture_output=True, text=True).stdout)
print(subprocess.run([sys.executable, "-m", "json.tool"], input="[1]", capture_output=True, text=True).stdout)
open("package.py", "w").write("x = 1\n")
print(subprocess.run([sys.executable, "-c", "import package; print(package.x)"], capture_output=True, text=True))
