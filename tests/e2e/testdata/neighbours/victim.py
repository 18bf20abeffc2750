# Does a little of everything for some seconds, and checks each result.
# want: exit 0
# want: stdout "unharmed\n"
import asyncio
import ctypes
import mmap
import multiprocessing
import os
import socket
import subprocess
import threading
import time

END, KEY = time.monotonic() + 4, 0x71C7
libc = ctypes.CDLL(None, use_errno=True)


def echo(sock):
    while True:
        peer, _ = sock.accept()
        with peer:
            peer.sendall(peer.recv(100)[::-1])


def ask(family, address):
    with socket.socket(family) as sock:
        sock.connect(address)
        sock.sendall(b"victim")
        assert sock.recv(100) == b"mitciv"


servers = {(socket.AF_INET, ("127.0.0.1", 18090)), (socket.AF_INET, ("127.0.0.1", 18091)), (socket.AF_INET6, ("::1", 18090)),
           (socket.AF_UNIX, "\0victim"), (socket.AF_UNIX, "/tmp/victim.sock")}
for family, address in servers:
    sock = socket.socket(family)
    sock.bind(address)
    sock.listen()
    threading.Thread(target=echo, args=(sock,), daemon=True).start()
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", 18090))
datagrams.setblocking(False)
objects = [libc.shmget(KEY, 4096, 0o3600), libc.semget(KEY, 1, 0o3600), libc.msgget(KEY, 0o3600)]
assert -1 not in objects or os.uname().release < "6.9", objects
for path in ("/tmp/victim", "/dev/shm/victim2"):
    with open(path, "x") as file:
        file.write("the victim's")
memory = mmap.mmap(-1, 1 << 20)
rounds = 0
while time.monotonic() < END:
    for family, address in servers:
        ask(family, address)
    with open("/tmp/victim") as file:
        assert file.read() == "the victim's"
    assert set(os.listdir("/tmp")) <= {"victim", "victim2", "victim.sock", "work", ".matplotlib"}, os.listdir("/tmp")
    with open("/tmp/big", "wb") as file:
        file.write(bytes(20 << 20))  # a third of what there is
    os.unlink("/tmp/big")
    assert subprocess.run(["echo", "child"], capture_output=True).stdout == b"child\n"
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert pool.map(abs, [-1, -2, -3]) == [1, 2, 3]
    assert asyncio.run(asyncio.sleep(0, "slept")) == "slept"
    memory[:] = os.urandom(1 << 20)
    assert len(bytearray(60 << 20)) == 60 << 20
    assert {int(name) for name in os.listdir("/proc") if name.isdigit()} == {os.getpid()}
    try:
        raise AssertionError(f"a stranger's datagram: {datagrams.recv(100)}")
    except BlockingIOError:
        pass
    rounds += 1
print("unharmed" if rounds else "never ran")
