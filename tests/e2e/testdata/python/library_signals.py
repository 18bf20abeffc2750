# says: got 10
# says: alarm
import os
import signal
import time

signal.signal(signal.SIGUSR1, lambda number, frame: print("got", number, frame.f_code.co_name))
os.kill(os.getpid(), signal.SIGUSR1)


def alarm(number, frame):
    raise TimeoutError("alarm")


signal.signal(signal.SIGALRM, alarm)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    time.sleep(30)
except TimeoutError as error:
    print(error)
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
print(signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGCHLD), signal.getsignal(signal.SIGHUP))
