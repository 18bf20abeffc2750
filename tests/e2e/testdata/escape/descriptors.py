# Looks for descriptors besides 0, 1 and 2, here and in a child process. As a
# control it has an extra one.
# except container: ENXIO: have a terminal
def own():
    extra = []
    for fd in range(3, 1024):
        try:
            os.fstat(fd)
            extra.append(fd)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
    if not extra:
        raise OSError(errno.EBADF, "no descriptor")
    return extra


def listed():
    extra = set(os.listdir("/proc/self/fd")) - {"0", "1", "2"}
    if len(extra) == 1:  # that of the listing itself
        raise OSError(errno.EBADF, "no descriptor")
    return extra


def inherited():
    code = "import os\nfor fd in range(3, 1024):\n try: print(os.fstat(fd) and fd)\n except OSError: pass"
    found = subprocess.run([sys.executable, "-S", "-c", code], close_fds=False, stdout=subprocess.PIPE).stdout.decode()
    if not found:
        raise OSError(errno.EBADF, "no descriptor")
    return found


def terminal(fd):
    os.tcgetpgrp(fd)


if CONTROL:
    os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
attempt("find a descriptor by number", own)
attempt("find a descriptor in /proc/self/fd", listed)
attempt("inherit a descriptor", inherited)
attempt("have a terminal", os.open, "/dev/tty", os.O_RDWR, uncontrolled="needs a terminal")
attempt("open the server's standard input", lambda: [os.read(os.open(f"/proc/{pid}/fd/0", os.O_RDONLY), 1) for pid in strangers()],
        uncontrolled="in proc_files.py")
