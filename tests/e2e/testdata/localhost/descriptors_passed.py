# want: exit 0
# want: stdout "ok\n"
import os
import socket
import struct
import xmlrpc.client
import xmlrpc.server
import threading

a, b = socket.socketpair()
reader, writer = os.pipe()
socket.send_fds(a, [b"take"], [writer])
_, fds, _, _ = socket.recv_fds(b, 10, 1)
os.write(fds[0], b"passed")
assert os.read(reader, 10) == b"passed"
assert struct.unpack("3i", a.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0] == os.getpid()
server = xmlrpc.server.SimpleXMLRPCServer(("localhost", 0), logRequests=False)
server.register_function(pow)
threading.Thread(target=server.serve_forever, daemon=True).start()
assert xmlrpc.client.ServerProxy(f"http://localhost:{server.server_address[1]}").pow(2, 10) == 1024
print("ok")
