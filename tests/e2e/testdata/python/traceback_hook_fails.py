# exit: 1
# says: Error in sys.excepthook:
# says: Original exception was:
import sys


def hook(kind, value, trace):
    raise KeyError("in hook")


sys.excepthook = hook
1 / 0
