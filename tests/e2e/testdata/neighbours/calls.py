# Connects to the victim's ports and names, and opens its objects.
# want: exit 0
# want: stdout "reached set()\n"
import ctypes
import socket

libc = ctypes.CDLL(None, use_errno=True)
reached = set()
for _ in tries():
    for name, family, address in [(f"port {port}", socket.AF_INET, ("127.0.0.1", port)) for port in PORTS] + [
            ("port of IPv6", socket.AF_INET6, ("::1", PORTS[0])), ("abstract", socket.AF_UNIX, "\0victim"), ("path", socket.AF_UNIX, "/tmp/victim.sock")]:
        with socket.socket(family) as sock:
            sock.settimeout(1)
            try:
                sock.connect(address)
                reached.add(name)
            except OSError:
                pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"attack", ("127.0.0.1", PORTS[0]))
    for name, call in (("shm", lambda: libc.shmget(KEY, 0, 0)), ("sem", lambda: libc.semget(KEY, 0, 0)), ("msg", lambda: libc.msgget(KEY, 0))):
        if call() != -1:
            reached.add(name)
    for path in ("/tmp/victim", "/dev/shm/victim", "/tmp/work/victim", "/dev/mqueue/victim"):
        if os.path.exists(path):
            reached.add(path)
print("reached", reached)
