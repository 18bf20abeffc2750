# exit: 8
# says: body
import atexit
import os

atexit.register(print, "not called")
atexit.register(os._exit, 8)
print("body")
