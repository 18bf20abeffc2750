# Takes every name and port that the victim uses, in its own namespaces.
# want: exit 0
# want: stdout "taken\n"
import ctypes
import socket

libc = ctypes.CDLL(None, use_errno=True)
kept = [socket.create_server(("127.0.0.1", port)) for port in PORTS]
for address in ("\0victim", "/tmp/victim.sock"):
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(address)
libc.shmget(KEY, 4096, 0o1600)
libc.semget(KEY, 1, 0o1600)
libc.msgget(KEY, 0o1600)
for path in ("/tmp/victim", "/dev/shm/victim2"):
    with open(path, "x") as file:
        file.write("the attacker's")
for _ in tries():
    pass
print("taken")
