# Writes to, reads from and closes every descriptor number that could be ours.
# want: exit 0
# want: stdout "mine\n"
import os
import socket

message = b'{"event": "exit", "pid": 1, "status": 0}'
for fd in range(3, 4096):
    for attack in (lambda: os.write(fd, message), lambda: os.read(fd, 1), lambda: socket.socket(fileno=fd).send(message), lambda: os.close(fd)):
        try:
            attack()
        except OSError:
            continue
        print("worked on", fd)
print("mine")
