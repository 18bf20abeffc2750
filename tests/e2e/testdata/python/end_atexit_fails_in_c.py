# says: Exception ignored in atexit callback
# says: FileNotFoundError
import atexit
import os

atexit.register(os.remove, "no-such-file")
print("body")
