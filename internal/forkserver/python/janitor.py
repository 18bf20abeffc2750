"""Removes what a run left behind."""

import errno
import os


def sweep(top):
    """Empties a directory in bounded memory: streaming, never recursive, never
    following a link. Directories that are not empty have their entries moved up,
    so depth does not matter. What lies on another file system is left alone."""
    fd = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        names = _Names()
        while _sweep_once(fd, os.fstat(fd).st_dev, names):
            pass
    finally:
        os.close(fd)


class _Names:
    """Names for what is moved up, that no program can have taken before."""

    def __init__(self):
        self.token, self.count = os.urandom(8).hex(), 0

    def next(self):
        self.count += 1
        return f".sweep-{self.token}-{self.count}"


def _sweep_once(fd, device, names):
    """One pass; False when nothing was there."""
    found = progress = False
    with os.scandir(fd) as entries:
        for entry in entries:
            if os.stat(entry.name, dir_fd=fd, follow_symlinks=False).st_dev != device:
                continue
            found = True
            progress = _remove(fd, entry.name) or _hoist(fd, entry.name, names) or progress
    if found and not progress:
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
    return found


def _remove(fd, name):
    try:
        os.unlink(name, dir_fd=fd)
        return True
    except (IsADirectoryError, PermissionError):
        pass
    try:
        os.rmdir(name, dir_fd=fd)
        return True
    except OSError:
        return False


def _hoist(top, name, names):
    """Removes the entries of a sub-directory or moves them up; whether any was there."""
    os.chmod(name, 0o700, dir_fd=top)
    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
    done = False
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                if not _remove(fd, entry.name):
                    # Moving a directory rewrites its "..": it must be writable.
                    os.chmod(entry.name, 0o700, dir_fd=fd)
                    os.rename(entry.name, names.next(), src_dir_fd=fd, dst_dir_fd=top)
                done = True
    finally:
        os.close(fd)
    return done
