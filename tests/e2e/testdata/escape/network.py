# Opens a socket of each family and type, and reaches for listeners that the
# test has on loopback, at a path and in the abstract namespace: it counts who
# comes. Prints refused for each.
# In network and mount namespaces of its own a program has sockets, and an interface
# that leads to itself only: there nobody listens at the outside's addresses, and
# there is no way to any other.
# except namespaces: ALLOWED: socket 1 stream; socket 1 datagram; socket 1 raw; socket 1 seqpacket
# except namespaces: ALLOWED: socket 2 stream; socket 2 datagram; socket 10 stream; socket 10 datagram
# except namespaces: ALLOWED: socket with flags; socket of a family with upper bits
# except namespaces: ALLOWED: listen on loopback; listen on every address; listen at an abstract name
# except namespaces: ALLOWED ['lo']: list interfaces
# except namespaces: ECONNREFUSED: tcp; fast open; unix socket by abstract name
# except namespaces: ALLOWED: udp
# except namespaces: ENETUNREACH: tcp to another host; udp to another host; tcp to another host by IPv6
import fcntl
import socket
import struct

TYPES = {"stream": 1, "datagram": 2, "raw": 3, "rdm": 4, "seqpacket": 5, "dccp": 6, "packet": 10}
KNOWN = {(1, 1), (1, 2), (1, 5), (2, 1), (2, 2), (2, 3), (10, 1), (10, 2), (16, 2), (16, 3), (17, 2), (17, 3)}


def make(family, kind, protocol=0):
    os.close(call(41, 198, family, kind, protocol))


def send_udp(port):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", ("127.0.0.1", port))


def fast_open(port):
    socket.socket(socket.AF_INET).sendto(b"hello", socket.MSG_FASTOPEN, ("127.0.0.1", port))


def connect(family, kind, address):
    socket.socket(family, kind).connect(address)


def interfaces():
    """By SIOCGIFCONF, which needs a socket, as every way to reach one does."""
    buffer = ctypes.create_string_buffer(4096)
    conf = struct.pack("iP", len(buffer), ctypes.addressof(buffer))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        length, _ = struct.unpack("iP", fcntl.ioctl(sock, 0x8912, conf))
    return sorted(buffer.raw[at:at + 16].split(b"\0")[0].decode() for at in range(0, length, 40))


def connect_unix(path):
    socket.socket(socket.AF_UNIX).connect(path)


def pair_to_path(path):
    """One end of a datagram pair can send to any socket by its path."""
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"hello", path)


def listen(family, address):
    with socket.socket(family) as sock:
        sock.bind(address)
        sock.listen()


def shell(port):
    if subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"], stderr=subprocess.DEVNULL).returncode:
        raise PermissionError(errno.EPERM, "bash")


def pair(family, kind):
    a, b = ctypes.c_int * 2, ctypes.c_int * 2
    call(53, 199, family, kind, 0, a())


for family in range(64):
    for name, kind in TYPES.items():
        why = "" if (family, kind) in KNOWN else "not in every kernel"
        attempt(f"socket {family} {name}", make, family, kind, socket.htons(3) if family == 17 else int(kind == 3 and family == 2), uncontrolled=why)
attempt("socket mptcp", make, 2, 1, 262, uncontrolled="not in every kernel")
attempt("socket with flags", make, 2, 1 | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
attempt("socket of a family with upper bits", make, 2 | 1 << 32, 1)
for family in (2, 10, 16, 40):
    attempt(f"socketpair {family}", pair, family, 1, uncontrolled="only unix sockets come in pairs")
attempt("tcp", lambda: socket.create_connection(("127.0.0.1", SETTING["tcp"])).close())
attempt("udp", send_udp, SETTING["udp"])
attempt("list interfaces", interfaces)
for kind, name in ((socket.SOCK_STREAM, "tcp"), (socket.SOCK_DGRAM, "udp")):
    attempt(f"{name} to another host", connect, socket.AF_INET, kind, ("192.0.2.1", 9), uncontrolled="needs a network")
attempt("tcp to another host by IPv6", connect, socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 9), uncontrolled="needs a network")
attempt("fast open", fast_open, SETTING["tcp"])
attempt("tcp from a child process", shell, SETTING["tcp"])
attempt("unix socket by path", connect_unix, SETTING["unix"])
attempt("unix socket by abstract name", connect_unix, "\0" + SETTING["abstract"])
attempt("datagram pair to a path", pair_to_path, SETTING["datagram"])
attempt("listen on loopback", listen, socket.AF_INET, ("127.0.0.1", 0))
attempt("listen on every address", listen, socket.AF_INET6, ("::", 0))
attempt("listen at an abstract name", listen, socket.AF_UNIX, "\0mcp-exec-escape-%d" % os.getpid())
attempt("resolve a name", lambda: socket.getaddrinfo("example.com", 80), uncontrolled="needs a network", answer=socket.EAI_AGAIN)
attempt("io_uring", lambda: os.close(call(425, 425, 8, ctypes.create_string_buffer(120))), uncontrolled="not in every kernel")
attempt("docker's socket", connect_unix, "/var/run/docker.sock", uncontrolled="needs Docker")
