# Signals everything, by every number.
# want: exit 0
# want: stdout "reached set()\n"
import signal

reached = set()
for _ in tries():
    for pid in range(-4096, 4096):
        if pid in (0, 1, os.getpid(), -os.getpid()):
            continue  # ourselves, and our own init
        try:
            os.kill(pid, signal.SIGKILL)
            reached.add(pid)
        except OSError:
            pass
print("reached", reached)
