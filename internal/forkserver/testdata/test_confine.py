"""The loop that executes the list of steps, on calls that harm nothing."""

import base64
import ctypes
import errno
import os
import platform
import struct
import unittest

from confine import StepError, argument, run_steps

GETPID, OPENAT, CLOSE = (39, 257, 3) if platform.machine() == "x86_64" else (172, 56, 57)
AT_FDCWD = -100


def encoded(data):
    return base64.b64encode(data).decode()


def content(arg, fds=None):
    """The bytes behind a pointer argument, and what must stay alive with them."""
    keep = []
    address = argument(arg, fds or {}, keep).value
    return ctypes.string_at(address, len(base64.b64decode(arg["bytes"]))), keep


class Argument(unittest.TestCase):
    def test_integer(self):
        for number in (0, -100, 1 << 40):
            self.assertEqual(argument(number, {}, []).value, number)

    def test_descriptor(self):
        self.assertEqual(argument({"fd": "ruleset.worker"}, {"ruleset.worker": 101}, []).value, 101)
        with self.assertRaises(KeyError):
            argument({"fd": "other"}, {"ruleset.worker": 101}, [])

    def test_bytes(self):
        for data in (b"/proc\0", b"\0", bytes(range(256))):
            self.assertEqual(content({"bytes": encoded(data)})[0], data)

    def test_no_bytes(self):
        self.assertNotEqual(argument({"bytes": ""}, {}, []).value, None)

    def test_pointer(self):
        data, keep = content({"bytes": encoded(bytes(16)), "pointers": {"8": encoded(b"filter")}})
        self.assertEqual(ctypes.string_at(struct.unpack("=QQ", data)[1], 6), b"filter")
        self.assertEqual(len(keep), 2)

    def test_descriptor_in_bytes(self):
        rule = {"bytes": encoded(struct.pack("=Qi", 7, 0)), "fds": {"8": "file"}}
        self.assertEqual(struct.unpack("=Qi", content(rule, {"file": 23, "other": 5})[0]), (7, 23))
        with self.assertRaises(KeyError):
            content(rule, {"other": 5})

    def test_descriptors_at_several_places(self):
        arg = {"bytes": encoded(bytes(13)), "fds": {"0": "a", "9": "b"}}
        self.assertEqual(struct.unpack("=i5xi", content(arg, {"a": 1, "b": -1})[0]), (1, -1))

    def test_descriptor_beyond_the_bytes(self):
        with self.assertRaises(ValueError):
            content({"bytes": encoded(bytes(4)), "fds": {"8": "file"}}, {"file": 1})


class RunSteps(unittest.TestCase):
    def test_a_bound_descriptor_is_used_by_later_steps(self):
        fds = {}
        path = {"bytes": encoded(__file__.encode() + b"\0")}
        run_steps([["open", OPENAT, [AT_FDCWD, path, os.O_RDONLY, 0], None, "file"]], fds)
        with open(fds["file"], "rb", closefd=False) as file:
            self.assertEqual(file.read(3), b'"""')
        run_steps([["close", CLOSE, [{"fd": "file"}], 0, None]], fds)
        with self.assertRaises(OSError):
            os.fstat(fds["file"])

    def test_the_wanted_result(self):
        run_steps([["getpid", GETPID, [], os.getpid(), None], ["getpid", GETPID, [], None, None]], {})
        with self.assertRaises(StepError) as caught:
            run_steps([["getpid", GETPID, [], 1 << 30, None]], {})
        self.assertEqual((caught.exception.step, caught.exception.errno), ("getpid", 0))

    def test_nothing_runs_after_a_failure(self):
        fds = {}
        missing = {"bytes": encoded(b"/no/such/file\0")}
        here = {"bytes": encoded(b"/\0")}
        with self.assertRaises(StepError) as caught:
            run_steps(
                [
                    ["open missing", OPENAT, [AT_FDCWD, missing, os.O_RDONLY, 0], None, "first"],
                    ["open /", OPENAT, [AT_FDCWD, here, os.O_RDONLY, 0], None, "second"],
                ],
                fds,
            )
        self.assertEqual((caught.exception.step, caught.exception.errno), ("open missing", errno.ENOENT))
        self.assertEqual(fds, {})


if __name__ == "__main__":
    unittest.main()
