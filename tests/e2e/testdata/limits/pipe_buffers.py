# So are pipes, of up to 1 MiB each.
# want: timed out|exit 137
import fcntl
import os
import time

for _ in range(30):
    if os.fork() == 0:
        while True:
            try:
                reader, writer = os.pipe2(os.O_NONBLOCK)
                fcntl.fcntl(writer, 1031, 1 << 20)
                while os.write(writer, b"x" * 65536):
                    pass
            except BlockingIOError:
                continue
            except OSError:
                time.sleep(600)
time.sleep(600)
