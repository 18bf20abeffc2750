# Stops itself and all its children.
# want: timed out
import os
import signal

for _ in range(5):
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
