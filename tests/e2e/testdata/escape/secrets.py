# Looks for the canary that the server has in its environment: in everything of
# /proc that can be read, in its own environment, memory and objects. Finding
# nothing is being refused: the control finds it in its own environment.
import gc
import re


def everywhere():
    """Reads every file below /proc/PID of every process."""
    for pid in ["self", *strangers()]:
        for directory in (f"/proc/{pid}", f"/proc/{pid}/task/{pid}"):
            try:
                names = os.listdir(directory)
            except OSError:
                continue
            for name in names:
                yield f"{directory}/{name}"


def read(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(fd, 1 << 20)
    except OSError:
        return b""
    finally:
        os.close(fd)


def search(texts):
    if not any(re.search(CANARY, text) for text in texts):
        raise FileNotFoundError(errno.ENOENT, "no canary")


def own_memory():
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in list(maps):
            first, last = (int(part, 16) for part in line.split()[0].split("-"))
            for start in range(first, last, 1 << 20):
                try:
                    memory.seek(start)
                    yield memory.read(min(1 << 20, last - start))
                except (OSError, OverflowError, ValueError):
                    break


attempt("find the canary below /proc", lambda: search(read(path) for path in everywhere()))
attempt("find the canary in os.environ", lambda: search([repr(os.environ).encode()]))
attempt("find the canary in own memory", lambda: search(own_memory()))
attempt("find the canary among objects", lambda: search(
    [repr(o).encode() for o in gc.get_objects() if type(o) in (dict, list, tuple)]), uncontrolled="made of no such objects")
