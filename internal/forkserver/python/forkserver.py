"""The fork server: a warm CPython that forks confined workers, each for one run.

Roles, all the same program (the protocol is specified in doc.go):

  server  loads modules once and forks further servers and reapers
  reaper  owns one slot: forks its worker, kills and reaps a run, sweeps its files
  worker  executes the list of confinement steps, then waits for one program

No server and no reaper ever sees a caller's data: code and the three standard
streams travel as descriptors that only the worker reads.
"""

import functools
import gc
import json
import mmap
import os
import select
import signal
import socket

import worker
from confine import StepError, run_steps
from ending import freeze_and_sweep, kill_domain, wait_for_all
from janitor import sweep
from preload import data_bytes, preload

CONTROL = 3  # the control socket, in every role
RULESETS = 100  # first of the descriptors that init made
MAX_MESSAGE = 1 << 17
MAX_FDS = 8

# ---- messages -------------------------------------------------------------


def send(sock, event, **fields):
    sock.sendall(json.dumps({"event": event, **fields}).encode())


def receive(sock):
    """One message and its descriptors; (None, []) at end of file."""
    data, fds, _, _ = socket.recv_fds(sock, MAX_MESSAGE, MAX_FDS)
    return (json.loads(data) if data else None), fds


def send_failure(sock, error):
    if isinstance(error, StepError):
        send(sock, "failed", step=error.step, errno=error.errno, error=os.strerror(error.errno))
    else:
        send(sock, "failed", step="fork server", errno=0, error=f"{type(error).__name__}: {error}")


class Become(BaseException):
    """Raised in a forked child, to unwind its parent's frames: every role begins
    at the bottom of the stack, so that a program finds few frames below its own."""

    def __init__(self, role):
        self.role = role


def play(role):
    """Roles until one of them ends, then the process."""
    while True:
        try:
            role()
            os._exit(0)
        except Become as change:
            role = change.role


# ---- servers and reapers ----------------------------------------------------


class Server:
    """Answers messages on its control socket and watches its children."""

    def __init__(self, sock, fds):
        self.sock = sock
        self.fds = fds  # named descriptors that every child inherits
        self.children = set()
        self.poll = select.poll()
        self.wake, self.woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def serve(self):
        """Runs until the control socket closes."""
        try:
            self.answer()
        except ConnectionError:
            pass  # it closed while something was being said

    def answer(self):
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # which a first process of a pid namespace ignores
        signal.set_wakeup_fd(self.woken, warn_on_full_buffer=False)
        self.poll.register(self.sock, select.POLLIN)
        self.poll.register(self.wake, select.POLLIN)
        while True:
            ready = [fd for fd, _ in self.poll.poll()]
            if self.wake in ready:
                os.read(self.wake, 4096)
                self.collect()
            for fd in ready:
                self.ended(fd)
            if self.sock.fileno() in ready and not self.handle(*receive(self.sock)):
                return

    def ended(self, fd):
        pass  # a server watches no streams

    def handle(self, message, fds):
        if message is None:
            return False
        getattr(self, "on_" + message["op"])(message, fds)
        return True

    def collect(self):
        """Reaps children and the orphans that come to a subreaper."""
        try:
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid in self.children:
                    self.children.remove(pid)
                    self.child_ended(pid, status, usage)
        except ChildProcessError:
            pass

    def child_ended(self, pid, status, usage):
        send(self.sock, "exit", pid=pid, status=status)

    def on_confine(self, message, fds):
        try:
            run_steps(message["steps"], self.fds)
            send(self.sock, "ready", pid=os.getpid())
        except StepError as error:
            send_failure(self.sock, error)

    def on_preload(self, message, fds):
        missing = preload(message["modules"], message["font_cache"])
        gc.collect()
        gc.freeze()
        send(self.sock, "preloaded", data=data_bytes(), missing=missing)

    def on_fork(self, message, fds):
        """The first descriptor is the child's control socket, the rest are named."""
        try:
            run_steps(message["before"], self.fds)
            pid = os.fork()
        except (OSError, StepError) as error:
            send_failure(self.child_end(fds[0]), StepError(getattr(error, "step", "fork"), error.errno))
            pid = None
        if pid == 0:
            raise Become(self.leave(message, fds))
        run_steps(message["after"], self.fds)  # if this can't be, nor can we
        if pid is not None:
            self.children.add(pid)
        for fd in fds:
            os.close(fd)

    def child_end(self, fd):
        """Where the one who asked for a child waits for its answer."""
        return socket.socket(fileno=os.dup(fd))

    def leave(self, message, fds):
        """In the child: leave everything of the parent behind; the role to take."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.close(self.wake)
            os.close(self.woken)
            self.sock.detach()
            os.dup2(fds[0], CONTROL, inheritable=False)
            os.close(fds[0])
            names = {**self.fds, **dict(zip(message["names"], fds[1:]))}
            return functools.partial(take_role, message, names)
        except BaseException:
            os._exit(1)  # never back into the parent's loop


class Reaper(Server):
    """Owns a slot. Its one worker's descendants can end nowhere but here."""

    def __init__(self, sock, fds, scoped):
        super().__init__(sock, fds)
        self.scoped = scoped
        self.workers = set()  # also those that have been reaped: their group may live on
        self.streams = set()  # reading ends of the run's stdout and stderr, never read
        self.page = None

    def serve(self):
        try:
            super().serve()
        except Become:
            raise  # we are the worker
        except BaseException:
            self.kill()
            raise
        self.kill()  # the server is gone: so is the run

    def on_fork(self, message, fds):
        self.watch(fds[1], fds[2:])
        super().on_fork(message, fds)
        self.workers = set(self.children)

    def watch(self, page, streams):
        """To see the end of a run when the server does, not when it says so."""
        self.page = mmap.mmap(page, mmap.PAGESIZE, prot=mmap.PROT_READ)
        for stream in streams:
            fd = os.dup(stream)
            self.streams.add(fd)
            self.poll.register(fd, 0)  # its end is always reported

    def ended(self, fd):
        """Nobody can write to this stream any more. When that is so for both and
        the worker has said that it is at its end, the run is over."""
        if fd not in self.streams:
            return
        self.forget(fd)
        if not self.streams and worker.is_done(self.page):
            self.kill()
            send(self.sock, "killed")
            self.clean()

    def forget(self, fd):
        self.streams.remove(fd)
        self.poll.unregister(fd)
        os.close(fd)

    def child_ended(self, pid, status, usage):
        """The worker's main process ended, so the run has: nothing may outlive it."""
        self.kill()
        cpu_ms = int((usage.ru_utime + usage.ru_stime) * 1000)
        send(self.sock, "exit", pid=pid, status=status, cpu_ms=cpu_ms)
        self.clean()

    def on_rehearse(self, message, fds):
        """A fork has made every page of ours copy-on-write: touch those that a
        kill will need, now and not when somebody waits for it."""
        if self.scoped:
            kill_domain(0)
        send(self.sock, "rehearsed")

    def on_kill(self, message, fds):
        if message["pid"] not in self.children:
            return  # it has ended meanwhile, and all with it
        self.kill()
        send(self.sock, "killed")
        self.clean()

    def kill(self):
        if self.scoped:
            kill_domain()
        else:
            freeze_and_sweep(self.workers)

    def clean(self):
        """Reap until ECHILD: the proof, at a subreaper, that a run is gone."""
        self.children.clear()
        for fd in list(self.streams):
            self.forget(fd)
        wait_for_all()
        send(self.sock, "gone")

    def on_sweep(self, message, fds):
        try:
            for top in message["directories"]:
                sweep(top)
            send(self.sock, "swept")
        except OSError as error:
            send_failure(self.sock, StepError("sweep", error.errno))


# ---- roles --------------------------------------------------------------------


def be_server(sock, message, fds):
    run_steps(message["steps"], fds)
    send(sock, "ready", pid=os.getpid())
    Server(sock, fds).serve()


def be_reaper(sock, message, fds):
    run_steps(message["steps"], fds)
    send(sock, "ready", pid=os.getpid())
    Reaper(sock, fds, message["scoped"]).serve()


def be_worker(sock, message, fds):
    page = mmap.mmap(fds["page"], mmap.PAGESIZE)
    run = worker.prepare(message, page)
    run_steps(message["steps"], fds)
    worker.close_from(CONTROL + 1)
    send(sock, "ready", pid=os.getpid())
    job, streams = receive(sock)
    if job is None:
        return
    worker.enter(job, message)
    run_steps(job["steps"], fds)
    source = worker.take(streams, message)
    sock.detach()
    worker.close_from(CONTROL)
    run(source)


def take_role(message, names):
    sock = socket.socket(fileno=CONTROL)
    try:
        ROLES[message["role"]](sock, message, names)
    except Become:
        raise
    except BaseException as error:
        try:
            send_failure(sock, error)
        finally:
            os._exit(1)  # whatever else fails, a program sees nothing of it


ROLES = {"server": be_server, "reaper": be_reaper, "worker": be_worker}
