# says: Exception ignored in atexit callback
# says: still called
import atexit

atexit.register(print, "still called")


@atexit.register
def f():
    raise ValueError("in atexit")


print("body")
