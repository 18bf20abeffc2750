"""The parts of a worker that need no sandbox."""

import errno
import os
import socket
import types
import unittest

import finalization
import worker


class ExitStatus(unittest.TestCase):
    def test_numbers(self):
        for code, status in ((None, 0), (0, 0), (3, 3), (255, 255), (256, 0), (-1, 255), (True, 1), (1 << 80, 255)):
            self.assertEqual(worker.exit_status(code), status, code)


class Reason(unittest.TestCase):
    def chained(self, inner, outer):
        outer.__context__ = inner
        return outer

    def test_objects(self):
        for error, want in (
            (ModuleNotFoundError("x"), worker.NO_MODULE),
            (ImportError("x"), 0),
            (MemoryError(), worker.NO_MEMORY),
            (OSError(errno.ENOMEM, "x"), worker.NO_MEMORY),
            (OSError(errno.EAFNOSUPPORT, "x"), worker.NO_NETWORK),
            (socket.gaierror(-3, "x"), worker.NO_NETWORK),
            (OSError(errno.ENOSPC, "x"), worker.DISK_FULL),
            (OSError(errno.EFBIG, "x"), worker.DISK_FULL),
            (BlockingIOError(errno.EAGAIN, "x"), 0),  # a fork works here, so it was something else
            (RuntimeError("can't start new thread"), worker.NO_PROCESS),
            (RuntimeError("MemoryError"), 0),
            (ValueError("No space left on device"), 0),
            (FileNotFoundError(errno.ENOENT, "x"), 0),
        ):
            self.assertEqual(worker.reason(error), want, repr(error))

    def test_chain(self):
        self.assertEqual(worker.reason(self.chained(MemoryError(), ValueError())), worker.NO_MEMORY)

    def test_endless_chain(self):
        first, second = ValueError(), KeyError()
        first.__cause__, second.__cause__ = second, first
        self.assertEqual(worker.reason(first), 0)


class ClearDictionary(unittest.TestCase):
    def test_private_names_go_first(self):
        gone = []

        class Witness:
            def __init__(self, name):
                self.name = name

            def __del__(self):
                gone.append(self.name)

        module = types.ModuleType("m")
        for name in ("public", "_private", "__dunder__", "later"):
            setattr(module, name, Witness(name))
        finalization.clear_dictionary(module)
        self.assertEqual(gone, ["_private", "public", "__dunder__", "later"])


class UsersFrames(unittest.TestCase):
    def test_a_syntax_error_has_none(self):
        main = types.SimpleNamespace(__file__=os.devnull)
        try:
            exec(compile("(", main.__file__, "exec"))
        except SyntaxError as error:
            self.assertIsNotNone(error.__traceback__)
            self.assertEqual(error.__traceback__, worker.users_frames(error.__traceback__))


if __name__ == "__main__":
    unittest.main()
