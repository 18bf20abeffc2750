"""What callers do with the standard library, under the filter. Prints ok."""

import asyncio
import concurrent.futures
import ctypes
import fcntl
import mmap
import multiprocessing
import os
import resource
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zipfile


def square(n):
    return n * n


def files():
    with open("a", "wb") as out:
        out.write(b"x" * 100_000)
    shutil.copy2("a", "b")
    with open("a", "rb") as src, open("c", "wb") as dst:
        assert os.sendfile(dst.fileno(), src.fileno(), 0, 100_000) == 100_000
        assert os.copy_file_range(src.fileno(), dst.fileno(), 10, 0, 0) == 10
        fcntl.lockf(dst, fcntl.LOCK_EX)
        fcntl.flock(dst, fcntl.LOCK_EX)
        os.fsync(dst.fileno())
        os.posix_fadvise(src.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
    os.mkfifo("fifo")
    os.utime("a", (1, 2))
    os.chmod("a", 0o600)
    os.link("a", "hard")
    os.symlink("a", "soft")
    os.replace("hard", "moved")
    assert os.access("a", os.R_OK) and os.stat("a").st_mtime == 2
    shutil.copytree(".", "tree", ignore=shutil.ignore_patterns("tree", "fifo"))
    assert subprocess.run(["cp", "-a", "tree", "tree2"]).returncode == 0
    assert subprocess.run(["sh", "-c", "tar cf - tree | tar xf - -C tree2"]).returncode == 0
    shutil.rmtree("tree")
    with tempfile.TemporaryFile(dir=".") as tmp, zipfile.ZipFile(tmp, "w") as z:
        z.writestr("name", "text")
    with mmap.mmap(-1, 1 << 20) as m:
        m[:4] = b"abcd"
        m.madvise(mmap.MADV_DONTNEED)


def descriptors():
    r, w = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    fcntl.fcntl(r, fcntl.F_SETFL, os.O_NONBLOCK)
    os.dup2(os.dup(r), 100)
    os.write(w, b"spliced")
    with open("spliced", "wb") as out:
        os.splice(r, out.fileno(), 7)
    poll = select.epoll()
    event = os.eventfd(1)
    poll.register(event, select.EPOLLIN)
    assert poll.poll(1)
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    socket.send_fds(a, [b"fd"], [event])
    assert socket.recv_fds(b, 10, 1)[0] == b"fd"
    os.closerange(200, 300)


def processes():
    assert subprocess.check_output(["/bin/sh", "-c", "echo hi | cat"]) == b"hi\n"
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    child.terminate()
    assert child.wait() == -signal.SIGTERM
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    os.killpg(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    pid = os.posix_spawn("/bin/true", ["true"], {})
    fd = os.pidfd_open(pid)
    assert os.waitid(os.P_PIDFD, fd, os.WEXITED).si_status == 0
    os.nice(1)
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
    resource.prlimit(0, resource.RLIMIT_NOFILE)


def signals():
    hits = []
    signal.signal(signal.SIGALRM, lambda *_: hits.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(0.1)
    signal.raise_signal(signal.SIGALRM)
    os.kill(os.getpid(), signal.SIGALRM)
    signal.pthread_kill(threading.get_ident(), signal.SIGALRM)
    assert len(hits) == 4, hits


def threads():
    lock, out = threading.Lock(), []

    def work(n):
        with lock:
            out.append(n)

    started = [threading.Thread(target=work, args=(n,), name=f"t{n}") for n in range(20)]
    for t in started:
        t.start()
    for t in started:
        t.join()
    assert len(out) == 20
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(square, range(3))) == [0, 1, 4]


def databases():
    for path in (":memory:", "data.sqlite"):
        db = sqlite3.connect(path)
        db.execute("pragma journal_mode=wal")
        db.execute("create table t(x)")
        db.executemany("insert into t values(?)", [(n,) for n in range(100)])
        db.commit()
        assert db.execute("select sum(x) from t").fetchone() == (4950,)
        db.close()


async def coroutines():
    child = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = await child.communicate(b"through a pipe")
    assert out == b"through a pipe"
    assert await asyncio.to_thread(square, 3) == 9
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, done.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(done.wait(), 10)


def pools():
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            assert pool.map(square, range(4)) == [0, 1, 4, 9]
        queue = context.Queue()
        queue.put(1)
        assert queue.get(timeout=10) == 1
        one, other = context.Pipe()
        one.send("duplex")
        assert other.recv() == "duplex"
        one.close()
        other.close()
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert list(pool.map(square, range(4))) == [0, 1, 4, 9]


def callbacks():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    numbers = (ctypes.c_int * 3)(3, 1, 2)
    ctypes.CDLL(None).qsort(numbers, 3, 4, compare(lambda x, y: x[0] - y[0]))
    assert list(numbers) == [1, 2, 3]


if __name__ == "__main__":
    files()
    descriptors()
    processes()
    signals()
    threads()
    databases()
    asyncio.run(coroutines())
    pools()
    callbacks()
    sys.stdout.write("ok\n")
