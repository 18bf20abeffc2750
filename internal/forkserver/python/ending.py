"""Ways to end a run: every process of it, whatever it does."""

import os
import signal

FREEZE_ROUNDS = 100  # of one sweep; only programs that do nothing but fork need more than three


def kill_domain(number=signal.SIGKILL):
    """A signal to everything in this Landlock signal domain but ourselves. The
    kernel walks the process list under a lock that fork(2) takes, so no process
    outruns it. Scope: Linux 6.12."""
    try:
        os.kill(-1, number)
    except (ProcessLookupError, PermissionError):
        pass  # nobody is there


def freeze_and_sweep(workers):
    """Without the scope: kill the workers' own groups, then stop all descendants
    until no new one is found and kill those; again until none is left. What is
    stopped can't fork. Signals go to process groups, so that a fork bomb stops as
    a whole; only a worker that is not yet confined is in our own."""
    for pid in workers:
        signal_quietly(os.killpg, pid, signal.SIGKILL)
    while True:
        for send, target in freeze():
            signal_quietly(send, target, signal.SIGKILL)
        if not reap_some():
            return


def freeze():
    frozen, targets = set(), set()
    for _ in range(FREEZE_ROUNDS):
        found = descendants(os.getpid()) - frozen
        if not found:
            break
        frozen |= found
        fresh = {target_of(pid) for pid in found}
        for send, target in fresh:
            signal_quietly(send, target, signal.SIGSTOP)
        targets |= fresh
    return targets


def target_of(pid):
    """How to signal a process: by its group, unless that is ours."""
    try:
        group = os.getpgid(pid)
    except ProcessLookupError:
        group = os.getpgrp()
    return (os.kill, pid) if group == os.getpgrp() else (os.killpg, group)


def signal_quietly(send, target, number):
    try:
        send(target, number)
    except ProcessLookupError:
        pass


def descendants(pid):
    found, todo = set(), [pid]
    while todo:
        children = children_of(todo.pop())
        found.update(children)
        todo += children
    return found


def children_of(pid):
    """Of all threads: each lists only what it forked itself."""
    children = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                children += [int(text) for text in file.read().split()]
    except OSError:
        pass  # it has ended meanwhile: its children come to us
    return children


def reap_some():
    """Reaps what can be reaped; False when no child is left."""
    try:
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return True
    except ChildProcessError:
        return False


def wait_for_all():
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
