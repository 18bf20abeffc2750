# want: exit 0
# want: stdout "ok\n"
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory
from multiprocessing.connection import Client, Listener


def square(n):
    return n * n


def answer(listener):
    with listener.accept() as connection:
        connection.send(connection.recv() * 2)


if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            assert pool.map(square, range(5)) == [0, 1, 4, 9, 16], method
        with ProcessPoolExecutor(2, mp_context=context) as executor:
            assert list(executor.map(square, range(3))) == [0, 1, 4], method
    with multiprocessing.Manager() as manager:
        shared = manager.dict(a=1)
        lock = manager.Lock()
        with lock:
            shared["a"] += 1
        assert shared["a"] == 2
    for address in (("localhost", 0), "pipe.sock"):
        with Listener(address) as listener:
            child = multiprocessing.get_context("fork").Process(target=answer, args=(listener,))
            child.start()
            with Client(listener.address) as client:
                client.send(21)
                assert client.recv() == 42
            child.join()
    memory = shared_memory.SharedMemory(create=True, size=1 << 20)
    memory.buf[:5] = b"hello"
    other = shared_memory.SharedMemory(memory.name)
    assert bytes(other.buf[:5]) == b"hello"
    other.close()
    memory.close()
    memory.unlink()
    print("ok")
