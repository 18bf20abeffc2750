# exit: 6
# says: [3, 1, -9, 0]
import multiprocessing
import os
import signal
import sys


def leave(how):
    if how == "exit":
        sys.exit(3)
    if how == "raise":
        raise SystemExit("text")
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=leave, args=(how,)) for how in ("exit", "raise", "kill", "")]
    for child in children:
        child.start()
        child.join()
    print([child.exitcode for child in children])
    print(multiprocessing.current_process().name, multiprocessing.parent_process(), multiprocessing.active_children())
    sys.exit(6)
