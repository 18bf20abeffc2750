# Fills the buffers of unix and TCP sockets that nobody reads, which no rlimit counts.
# want: exit 137
# want: note memory_limit
import socket

kept = []
for n in range(20):
    if os.fork() == 0:
        server = socket.create_server(("127.0.0.1", 0))
        while True:
            try:
                pairs = [socket.socketpair(), (socket.create_connection(server.getsockname()), server.accept()[0])]
            except OSError:
                time.sleep(600)
            for sock in (sock for pair in pairs for sock in pair):
                kept.append(sock)
                sock.setblocking(False)
                try:
                    while sock.send(bytes(65536)):
                        pass
                except OSError:
                    pass
time.sleep(600)
