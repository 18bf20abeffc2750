"""Sockets of one's own network namespace, under the filter. Prints ok."""

import asyncio
import http.server
import multiprocessing
import os
import socket
import threading
import urllib.request


def local_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    server.RequestHandlerClass.log_message = lambda *args: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/", timeout=10) as answer:
        assert answer.status == 200
    server.shutdown()
    server.server_close()


def datagrams():
    a, b = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
    a.bind(("127.0.0.1", 0))
    a.settimeout(10)
    b.sendto(b"ping", a.getsockname())
    assert a.recv(10) == b"ping"
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.send(b"pair")
    assert b.recv(10) == b"pair"


async def unix_stream():
    async def echo(reader, writer):
        writer.write(await reader.readline())
        writer.close()

    async with await asyncio.start_unix_server(echo, "echo.sock"):
        reader, writer = await asyncio.open_unix_connection("echo.sock")
        writer.write(b"line\n")
        assert await reader.readline() == b"line\n"
        writer.close()


def managed():
    with multiprocessing.Manager() as manager:
        shared = manager.dict(a=1)
        assert shared["a"] == 1
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        assert pool.map(abs, [-1]) == [1]


if __name__ == "__main__":
    os.environ["no_proxy"] = "*"
    local_server()
    datagrams()
    asyncio.run(unix_stream())
    managed()
    print("ok")
