# says: b'HELLO\n' 0
# says: CalledProcessError
import os
import subprocess
import sys

print(subprocess.run(["tr", "a-z", "A-Z"], input=b"hello\n", capture_output=True).stdout, 0)
print(subprocess.run("exit 3", shell=True).returncode, subprocess.getoutput("echo one; echo two"))
print(subprocess.run([sys.executable, "-c", "import sys; print(sys.argv, sys.stdin.read())", "a b"], input="in", text=True, capture_output=True).stdout)
sys.stdout.write("before the child, no newline|")
sys.stdout.flush()
subprocess.run(["echo", "from the child"])
subprocess.run("echo to stderr >&2", shell=True)
print(os.system("exit 4") >> 8, os.popen("echo popen").read())
try:
    subprocess.run(["false"], check=True)
except subprocess.CalledProcessError as error:
    print("CalledProcessError", error)
try:
    subprocess.run(["sleep", "30"], timeout=0.1)
except subprocess.TimeoutExpired as error:
    print(type(error))
try:
    subprocess.run(["no-such-program"])
except FileNotFoundError as error:
    print(type(error))
with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cat:
    print(cat.communicate("piped"), cat.returncode)
