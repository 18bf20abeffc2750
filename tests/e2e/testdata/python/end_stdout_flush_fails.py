# exit: 120
# says: cannot flush
import sys


class Out:
    closed = False

    def write(self, text):
        pass

    def flush(self):
        raise ValueError("cannot flush")


sys.stdout = Out()
