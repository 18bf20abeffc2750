# want: exit 0
# want: stdout "ok\n"
import socket

for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_INET6, ("::1", 0)), (socket.AF_UNIX, "datagrams")):
    with socket.socket(family, socket.SOCK_DGRAM) as server, socket.socket(family, socket.SOCK_DGRAM) as client:
        server.bind(address)
        client.sendto(b"hello", server.getsockname())
        assert server.recv(100) == b"hello"
print("ok")
