"""One program, from hand-over to exit, as `python3 main.py` would run it."""

import builtins
import ctypes
import errno
import gc
import importlib.machinery
import os
import signal
import sys
import types

from finalization import Before, finalize, flush, quietly

MAIN = "main.py"
OURS = ("__main__", "confine", "ending", "finalization", "forkserver", "janitor", "preload", "worker")

# What the status page holds, one 32-bit word: STARTED before the program's first
# instruction, and at its end DONE | STARTED | status | reason << 16.
DONE, STARTED = 0x100, 0x200
NO_MODULE, NO_MEMORY, NO_NETWORK, DISK_FULL, NO_PROCESS = range(1, 6)

_exit, _getpid, _kill = os._exit, os.getpid, os.kill
_syscall = ctypes.CDLL(None).syscall
_CLOSE_RANGE = 436  # the same number on every architecture; Linux 5.9


def prepare(message, page):
    """Everything that needs no program: what returns runs one, and never returns."""
    directory = os.path.realpath(message["directory"])  # as os.getcwd() will say it
    set_environment(message["env"])
    sys.argv = [MAIN]
    sys.orig_argv = [sys.orig_argv[0], MAIN]
    sys.path.insert(0, directory)
    sys.stdout.reconfigure(line_buffering=True)
    reseed()
    prefer_fork()
    os.umask(0o022)
    for name in OURS:
        sys.modules.pop(name, None)
    gc.enable()
    ended = Ending(page)
    execute(b"pass", fresh_main(directory))  # pre-faults the pages that a run writes to
    rehearse_end()
    gc.freeze()  # so that the collections at exit look at the program's objects only
    own = [fresh_main(directory)]
    before = Before()
    return lambda source: ended(own, before, source)


def set_environment(env):
    os.environ.clear()
    os.environ.update(env)


def reseed():
    """State that forked interpreters would share. random reseeds itself."""
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    if "multiprocessing.process" in sys.modules:
        sys.modules["multiprocessing.process"].current_process().authkey = os.urandom(32)
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None


def prefer_fork():
    """From Python 3.14 on the default is forkserver, which needs a unix socket."""
    context = sys.modules.get("multiprocessing.context")
    default = getattr(context, "_default_context", None)
    if sys.version_info >= (3, 14) and default is not None:
        default._default_context = default.get_context("fork")


def rehearse_end():
    """Pre-faults what runs at exit in any case."""
    if "logging" in sys.modules:
        sys.modules["logging"].shutdown()
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util._exit_function()
        util._exiting = False
    flush()
    gc.collect()


def fresh_main(directory):
    """A __main__ as CPython makes it for a script, key by key."""
    main = types.ModuleType("__main__")
    path = os.path.join(directory, MAIN)
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    main.__builtins__ = builtins
    main.__file__ = path
    main.__cached__ = None
    sys.modules["__main__"] = sys.modules["__mp_main__"] = main
    return main


def enter(job, message):
    """The run's directory is made now, after the last run's files were swept."""
    os.mkdir(message["directory"], 0o700)
    os.chdir(message["directory"])


def take(streams, message):
    """The four descriptors: code, stdin, stdout, stderr. Returns the source."""
    source = os.pread(streams[0], os.fstat(streams[0]).st_size, 0)
    fd = os.open(MAIN, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    written = 0
    while written < len(source):
        written += os.write(fd, source[written:])
    os.close(fd)
    if b"matplotlib" in source:
        give_fonts(message)
    for number, stream in enumerate(streams[1:]):
        os.dup2(stream, number)
    return source


def give_fonts(message):
    """A program that imports matplotlib cold, or in a child, need not search for fonts."""
    if message["font_list"]:
        configuration = message["env"]["MPLCONFIGDIR"]
        os.mkdir(configuration, 0o700)
        os.symlink(message["font_list"], os.path.join(configuration, os.path.basename(message["font_list"])))


def close_from(first):
    """A program starts with 0, 1, 2 and nothing else, whatever its number."""
    if _syscall(_CLOSE_RANGE, first, ctypes.c_uint(-1), 0) == -1:
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


# ---- the run ---------------------------------------------------------------------


def execute(source, main):
    """Returns the exit status and why an uncaught exception says it ended."""
    try:
        exec(compile(source, main.__file__, "exec", dont_inherit=True), main.__dict__)
        return 0, 0
    except BaseException as error:
        caught = error.with_traceback(users_frames(error.__traceback__))
    return uncaught(caught)  # out here no exception is being handled, as a hook can see


def users_frames(traceback):
    while traceback is not None and traceback.tb_frame.f_code is execute.__code__:
        traceback = traceback.tb_next
    return traceback


def uncaught(error):
    if isinstance(error, SystemExit):
        return exit_status(error.code), 0
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.last_exc = error
    why = reason(error)  # before memory is used up for printing
    status = print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        status = -signal.SIGINT
    return status, why


def exit_status(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    quietly(lambda: sys.stdout.flush())
    if getattr(sys, "stderr", None) is None:
        quietly(lambda: complain(str(code)))
    else:
        quietly(lambda: sys.stderr.write(str(code)))
    complain("\n")
    return 1


def complain(text):
    """As PySys_WriteStderr: on the descriptor where the stream is broken."""
    try:
        sys.stderr.write(text)
    except BaseException:
        quietly(lambda: os.write(2, text.encode(errors="backslashreplace")))


def print_exception(error):
    quietly(lambda: sys.stdout.flush())
    try:
        hook = sys.excepthook
    except AttributeError:
        complain("sys.excepthook is missing\n")
        hook = sys.__excepthook__
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit as stop:
        return exit_status(stop.code)
    except BaseException as second:
        complain("Error in sys.excepthook:\n")
        second = second.with_traceback(second.__traceback__.tb_next)
        sys.__excepthook__(type(second), second, second.__traceback__)
        complain("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)
    return 1


def reason(error):
    """What the exception object says, never what was printed."""
    for _ in range(10):
        found = reason_of(error)
        if found or error is None:
            return found
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return 0


def reason_of(error):
    if isinstance(error, ModuleNotFoundError):
        return NO_MODULE
    if isinstance(error, MemoryError):
        return NO_MEMORY
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return NO_PROCESS
    if not isinstance(error, OSError):
        return 0
    return reason_of_errno(error)


def reason_of_errno(error):
    socket = sys.modules.get("socket")
    if socket and isinstance(error, socket.gaierror):
        return NO_NETWORK
    if error.errno in (errno.EAFNOSUPPORT, errno.ENETUNREACH, errno.EHOSTUNREACH):
        return NO_NETWORK
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return DISK_FULL
    if error.errno == errno.EAGAIN and (not can_fork() or crowded()):
        return NO_PROCESS
    if error.errno == errno.ENOMEM:
        return NO_MEMORY
    return 0


def can_fork():
    """EAGAIN has many causes. PyDLL keeps other threads and fork handlers out of it."""
    libc = ctypes.PyDLL(None)
    pid = libc.fork()
    if pid == 0:
        libc._exit(0)
    return pid > 0


def crowded():
    """A fork bomb that has failed falls apart at once: by the time that we try, a place
    may be free. Half of the limit is more than those that have other reasons have."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    ours = sum(is_ours(name) for name in os.listdir("/proc") if name.isdigit())
    return limit != resource.RLIM_INFINITY and 2 * ours > limit


def is_ours(pid):
    try:
        return os.stat("/proc/" + pid).st_uid == os.getuid()
    except OSError:
        return False


# ---- the end ------------------------------------------------------------------------


def is_done(page):
    return bool(int.from_bytes(page[0:4], sys.byteorder) & DONE)


class Ending:
    """Runs the program, then does what Py_FinalizeEx does that a program can see."""

    def __init__(self, page):
        self.page, self.pid = page, _getpid()

    def write(self, word):
        self.page[0:4] = word.to_bytes(4, sys.byteorder)

    def __call__(self, own, before, source):
        self.write(STARTED)
        status, why = execute(source, own[0])
        if finalize(own, before) and status >= 0:
            status = 120
        if status < 0:
            signal.signal(-status, signal.SIG_DFL)
            _kill(_getpid(), -status)
            status = 128 - status  # the signal is blocked
        if _getpid() == self.pid:  # else a forked child that fell off the end
            self.write(DONE | STARTED | status | why << 16)
            # Before the address space is torn down, so that readers see the end now.
            _syscall(_CLOSE_RANGE, 0, ctypes.c_uint(-1), 0)
        _exit(status)
