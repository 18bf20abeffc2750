# exit: 120
# says: body
import sys


class Err:
    closed = False

    def write(self, text):
        pass

    def flush(self):
        raise ValueError("cannot flush")


print("body")
sys.stderr = Err()
