# Every process has a session of its own and ignores what it can.
# want: exit 1|137
# want natively: note process_limit
# Its memory is small: tracebacks of so many may take it before the watchdog counts them.
# want docker: note process_limit|memory_limit
import os
import signal

for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
    signal.signal(number, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        os.setsid()
