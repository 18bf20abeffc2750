"""What an interpreter says of itself, where links lead to it."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

output = io.StringIO()
with contextlib.redirect_stdout(output):
    import inspect_interpreter


class Tree(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.top = os.path.realpath(holder.name)

    def path(self, name):
        return os.path.join(self.top, name)

    def make(self, *names):
        """A name with an arrow is a link, one that ends in a slash a directory, else a file."""
        for name in names:
            name, _, target = name.partition(" -> ")
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            if target:
                os.symlink(self.path(target[1:]) if target.startswith("/") else target, self.path(name))
            elif not name.endswith("/"):
                open(self.path(name), "w").close()

    def short(self, paths):
        return [os.path.relpath(path, self.top) for path in paths]


class Executables(Tree):
    def executables(self, name):
        with mock.patch.object(sys, "executable", self.path(name)):
            found = inspect_interpreter.executables()
        for path in found:
            self.assertTrue(os.path.exists(path), path)
        return self.short(found)

    def test_no_link(self):
        self.make("bin/python3")
        self.assertEqual(set(self.executables("bin/python3")), {"bin/python3"})

    def test_every_link_of_a_chain(self):
        self.make("usr/bin/python3.11", "usr/bin/python3 -> python3.11", "venv/bin/python -> /usr/bin/python3")
        self.assertEqual(
            self.executables("venv/bin/python"),
            ["venv/bin/python", "usr/bin/python3", "usr/bin/python3.11", "usr/bin/python3.11"],
        )

    def test_by_both_names_of_a_directory(self):
        self.make("py-3.12.5/bin/python", "py-3.12 -> py-3.12.5", "venv/bin/python -> ../../py-3.12/bin/python")
        self.assertEqual(
            self.executables("venv/bin/python"), ["venv/bin/python", "py-3.12/bin/python", "py-3.12.5/bin/python"]
        )

    def test_up_from_a_linked_directory(self):
        # By its letters the link leads to top/other, where nothing is.
        self.make("deep/down/bin/python -> ../other/python", "deep/down/other/python", "bin -> deep/down/bin")
        self.assertEqual(self.executables("bin/python"), ["bin/python", "deep/down/other/python"])

    def test_a_loop_ends(self):
        self.make("a -> b", "b -> a")
        self.assertEqual(self.executables("a"), [])


class Directories(Tree):
    def directories(self, prefix, path):
        names = ("prefix", "base_prefix", "exec_prefix", "base_exec_prefix")
        with contextlib.ExitStack() as stack:
            for name in names:
                stack.enter_context(mock.patch.object(sys, name, self.path(prefix)))
            stack.enter_context(mock.patch.object(sys, "path", path))
            return self.short(inspect_interpreter.directories())

    def test_by_every_name(self):
        self.make("py-3.12.5/lib/", "py-3.12 -> py-3.12.5", "py -> py-3.12")
        self.assertEqual(
            self.directories("py", [self.path("py-3.12/lib")]), ["py", "py-3.12.5", "py-3.12.5/lib", "py-3.12/lib"]
        )

    def test_what_is_no_directory(self):
        self.make("py/lib/python312.zip")
        self.assertEqual(self.directories("py", [self.path("py/lib/python312.zip"), self.path("none")]), ["py"])

    def test_absolute_and_without_dots(self):
        self.make("py/lib/", "py/bin/")
        self.assertEqual(self.directories("py", [self.path("py/bin/../lib")]), ["py", "py/lib"])


class Whole(unittest.TestCase):
    def test_this_interpreter(self):
        said = json.loads(output.getvalue())
        self.assertEqual(said["Executable"], sys.executable)
        self.assertIn(os.path.realpath(sys.executable), said["Files"])
        self.assertIn(os.path.dirname(os.__file__), said["Dirs"])
        self.assertEqual([p["Name"] for p in said["Packages"]], list(inspect_interpreter.PACKAGES))


if __name__ == "__main__":
    unittest.main()
