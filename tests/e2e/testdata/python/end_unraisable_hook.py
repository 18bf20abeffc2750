# says: mine ValueError
import sys


class C:
    def __del__(self):
        raise ValueError("late")


def hook(args):
    print("mine", args.exc_type.__name__, args.exc_value, args.err_msg, type(args).__name__)


sys.unraisablehook = hook
c = C()
del c
c = C()
