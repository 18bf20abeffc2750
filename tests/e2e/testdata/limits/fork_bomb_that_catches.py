# Goes on when it is told that there are no more processes.
# want: timed out|exit 137
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
