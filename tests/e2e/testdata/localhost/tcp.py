# want: exit 0
# want: stdout "ok\n"
import socket
import threading


def serve(server):
    peer, _ = server.accept()
    with peer:
        while data := peer.recv(65536):
            peer.sendall(data.upper())


for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_INET6, ("::1", 0)), (socket.AF_UNIX, "here.sock"), (socket.AF_UNIX, "\0here")):
    with socket.socket(family) as server, socket.socket(family) as client:
        server.bind(address)
        server.listen()
        threading.Thread(target=serve, args=(server,)).start()
        client.connect(server.getsockname())
        client.sendall(b"hello")
        client.shutdown(socket.SHUT_WR)
        got = b""
        while data := client.recv(65536):
            got += data
        assert got == b"HELLO", got
server = socket.create_server(("localhost", 0))
assert socket.create_connection(("localhost", server.getsockname()[1]))
print("ok")
