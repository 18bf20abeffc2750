# exit: 9
# says: hook
import sys


def hook(kind, value, trace):
    print("hook")
    sys.exit(9)


sys.excepthook = hook
1 / 0
