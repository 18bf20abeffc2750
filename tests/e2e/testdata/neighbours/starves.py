# Takes all that a uid or a namespace may have: processes that burn the processor,
# watches, locks, pipes, sockets. Its own limits are met, or its memory.
# want: exit 0|137
import fcntl
import ctypes
import select
import socket

libc = ctypes.CDLL(None)
for n in range(40):
    if os.fork() == 0:
        kept = []
        while time.monotonic() < END:
            for take in (lambda: kept.append(libc.inotify_init()), lambda: kept.append(os.pipe2(os.O_NONBLOCK)), lambda: kept.append(select.epoll()),
                         lambda: fcntl.fcntl(kept[-1][1], 1031, 1 << 20), lambda: os.write(kept[-2][1], bytes(1 << 20)),
                         lambda: kept.append(socket.socketpair())):
                try:
                    take()
                except (OSError, TypeError, IndexError):
                    pass
        os._exit(0)
for _ in tries():
    pass
