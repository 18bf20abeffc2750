# Kills whatever it may, last itself.
# want: exit 137
# want: note killed_signal
import os
import signal

targets = {1, os.getppid(), *(int(name) for name in os.listdir("/proc") if name.isdigit())} - {os.getpid()}
for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
    for pid in (-1, *targets, *(-pid for pid in targets if pid > 1)):
        try:
            os.kill(pid, number)
        except OSError:
            pass
os.kill(os.getpid(), signal.SIGKILL)
