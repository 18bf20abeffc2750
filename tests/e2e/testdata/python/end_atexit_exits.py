# says: body
import atexit
import sys

atexit.register(print, "still called")
atexit.register(sys.exit, 7)
print("body")
