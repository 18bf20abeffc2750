# Looks for the runner's objects in its own memory, and uses what it finds.
# want: any
import gc
import mmap
import socket
import sys

for thing in gc.get_objects():
    if isinstance(thing, mmap.mmap):
        thing[0:4] = b"\xff" * 4
    if isinstance(thing, socket.socket):
        print("socket", thing)
frame = sys._getframe()
while frame.f_back:
    frame = frame.f_back
    for name, value in list(frame.f_locals.items()):
        print(frame.f_code.co_name, name, type(value).__name__)
