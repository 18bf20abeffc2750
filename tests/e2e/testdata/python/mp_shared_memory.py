# says: 5 b'hello'
from multiprocessing import Array, Pipe, get_context, shared_memory


def change(name, connection):
    block = shared_memory.SharedMemory(name=name)
    block.buf[:5] = b"hello"
    block.close()
    connection.send("changed")


if __name__ == "__main__":
    context = get_context("fork")
    block = shared_memory.SharedMemory(create=True, size=5)
    ours, theirs = Pipe()
    child = context.Process(target=change, args=(block.name, theirs))
    child.start()
    print(ours.recv(), block.size >= 5)
    child.join()
    print(5, bytes(block.buf[:5]), list(Array("i", [1, 2])))
    block.close()
    block.unlink()
