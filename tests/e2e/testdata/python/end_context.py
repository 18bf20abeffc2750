# exit: 2
# says: left
import contextlib
import sys


@contextlib.contextmanager
def entered():
    try:
        yield
    finally:
        print("left")


with entered():
    sys.exit(2)
