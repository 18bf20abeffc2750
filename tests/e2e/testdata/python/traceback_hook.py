# exit: 1
# says: hook ZeroDivisionError division by zero
# says: True
import atexit
import sys


def hook(kind, value, trace):
    print("hook", kind.__name__, value, trace.tb_lineno, trace.tb_next)


sys.excepthook = hook
atexit.register(lambda: print(isinstance(sys.last_value, ZeroDivisionError), sys.last_type))
1 / 0
