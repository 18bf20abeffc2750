"""What a run may leave behind, and what the janitor must do with it."""

import os
import socket
import tempfile
import unittest

import janitor


class Sweep(unittest.TestCase):
    def setUp(self):
        self.outside = tempfile.mkdtemp()
        self.top = os.path.join(self.outside, "top")
        os.mkdir(self.top)
        self.addCleanup(lambda: (janitor.sweep(self.outside), os.rmdir(self.outside)))

    def swept(self):
        janitor.sweep(self.top)
        self.assertEqual(os.listdir(self.top), [])

    def path(self, *names):
        return os.path.join(self.top, *names)

    def test_empty(self):
        self.swept()

    def test_every_kind_of_file(self):
        open(self.path("file"), "w").close()
        open(self.path("\n*' \udcff"), "w").close()
        os.mkfifo(self.path("fifo"))
        os.mkdir(self.path("directory"))
        os.symlink("/nowhere", self.path("dangling"))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path("socket"))
        listener.close()
        self.swept()

    def test_links_are_not_followed(self):
        kept = os.path.join(self.outside, "kept")
        os.mkdir(kept)
        open(os.path.join(kept, "file"), "w").close()
        os.symlink(kept, self.path("link"))
        os.mkdir(self.path("sub"))
        os.symlink(kept, self.path("sub", "link"))
        os.chmod(kept, 0o755)
        self.swept()
        self.assertEqual(os.listdir(kept), ["file"])

    def test_closed_directories(self):
        os.makedirs(self.path("a", "b", "c"))
        open(self.path("a", "b", "c", "file"), "w").close()
        for path in (self.path("a", "b", "c"), self.path("a", "b"), self.path("a")):
            os.chmod(path, 0)
        self.swept()

    def test_depth_beyond_any_recursion(self):
        here = os.open(self.top, os.O_RDONLY)
        for _ in range(3000):
            os.mkdir("d", dir_fd=here)
            deeper = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = deeper
        os.close(here)
        self.swept()

    def test_many_files(self):
        for number in range(3000):
            open(self.path(str(number)), "w").close()
        self.swept()

    def test_wide_and_deep(self):
        for first in range(12):
            for second in range(12):
                os.makedirs(self.path(str(first), str(second), "x", "y"))
        self.swept()

    @unittest.skipUnless(os.path.ismount("/dev/shm"), "no second file system")
    def test_other_file_systems_stay(self):
        with self.assertRaises(FileNotFoundError):
            janitor.sweep(self.path("missing"))
        # An entry on another device is passed over: nothing is swept through it.
        self.assertFalse(janitor._sweep_once(os.open(self.outside, os.O_RDONLY), -1, janitor._Names()))


if __name__ == "__main__":
    unittest.main()
