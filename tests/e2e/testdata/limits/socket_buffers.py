# Socket buffers are memory of the kernel: many processes with many pairs each.
# want: timed out|exit 137
import os
import socket
import time

for _ in range(30):
    if os.fork() == 0:
        pairs = []
        while True:
            try:
                a, b = socket.socketpair()
                a.setblocking(False)
                a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
                while a.send(b"x" * 65536):
                    pairs.append((a, b))
            except OSError:
                if len(pairs) > 10000:
                    time.sleep(600)
time.sleep(600)
