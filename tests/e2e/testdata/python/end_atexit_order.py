# exit: 3
# says: second registered
import atexit
import sys


@atexit.register
def first():
    print("first registered", file=sys.stderr)
    print("first registered")


@atexit.register
def second():
    print("second registered")
    atexit.register(print, "registered at exit")


print("body")
sys.exit(3)
