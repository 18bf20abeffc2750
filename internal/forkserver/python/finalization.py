"""The end of a program: what Py_FinalizeEx does that a program can see."""

import atexit
import gc
import os
import sys
import threading
import types
import weakref


class Before:
    """What the interpreter held before the program: at its end only the rest counts."""

    def __init__(self):
        self.modules = set(sys.modules)
        self.hooks = len(threading._threading_atexits)
        self.collections = collections()

    def threads_started(self):
        hooks = len(threading._threading_atexits) > self.hooks
        return hooks or len(threading._active) > 1 or bool(threading._limbo)

    def ages(self):
        """The generations to collect at exit, first and second time. Where nothing
        has been collected yet, all that is young, which costs less."""
        return (0, 1) if collections() == self.collections else (2, 2)


def collections():
    return sum(generation["collections"] for generation in gc.get_stats())


def finalize(own, before):
    """In CPython's order; true when the standard streams can't be flushed."""
    sys.unraisablehook = UsersUnraisable(sys.unraisablehook)
    if before.threads_started():
        quietly(threading._shutdown)
    atexit._run_exitfuncs()
    failed = flush()
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            setattr(sys, name, None)
    first, second = before.ages()
    if gc.isenabled():
        gc.collect(first)  # what is left gets the order in which names refer to it
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    clear_modules(own, before.modules, second)
    quietly(lambda: sys.stdout.flush())
    return failed


def clear_modules(own, before, age):
    """Drops __main__ and what the program imported from its own directory, so
    that finalizers run while their globals still stand; then clears the rest."""
    directory = os.path.dirname(own[0].__file__)
    new = sys.modules.keys() - before
    names = [n for n in sys.modules if n in new and is_own(sys.modules[n], directory)] if new else []
    references = [weakref.ref(own[0])]
    for name in names:
        references.append(weakref.ref(sys.modules[name]))
        sys.modules[name] = None
    sys.modules["__main__"] = sys.modules["__mp_main__"] = None
    own.clear()
    gc.collect(age)
    for reference in reversed(references):
        clear_dictionary(reference())


def is_own(module, directory):
    if not isinstance(module, types.ModuleType):
        return False
    path = getattr(module, "__file__", None)
    return path is None or str(path).startswith(directory)


def clear_dictionary(module):
    if module is None:
        return
    names = vars(module)
    for private in (True, False):
        for name in list(names):
            single = name.startswith("_") and not name.startswith("__")
            if name != "__builtins__" and names[name] is not None and (single or not private):
                names[name] = None


def flush():
    """As flush_std_files of CPython: stdout's failure is reported, stderr's is not."""
    failed = False
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException as error:
            failed = True
            if stream is sys.stdout:
                quietly(sys.unraisablehook, unraisable(error, stream))
    return failed


def unraisable(error, stream):
    message, source = None, stream
    if sys.version_info >= (3, 13):
        message, source = "Exception ignored on flushing sys.stdout", None
    return Arguments((type(error), error, error.__traceback__.tb_next, message, source))


class Failing:
    def __del__(self):
        raise ValueError


def arguments_type():
    """The type that unraisable hooks insist on has no name: it must be caught."""
    found = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda args: found.append(type(args))
    Failing()
    sys.unraisablehook = hook
    return found[0]


class UsersUnraisable:
    """The program's hook, shown the program's frames only: a C function that fails
    is given the frame that called it, and in the end that is ours."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, args):
        trace = args.exc_traceback
        while trace is not None and os.path.dirname(trace.tb_frame.f_code.co_filename) == HERE:
            trace = trace.tb_next
        self.hook(type(args)((args.exc_type, args.exc_value, trace, args.err_msg, args.object)))


def quietly(function, *args):
    try:
        function(*args)
    except BaseException:
        pass


Arguments = arguments_type()
HERE = os.path.dirname(quietly.__code__.co_filename)  # of our code; no program's lies there
