# Never comes to its end: exit handlers, finalizers and other threads go on.
# want: timed out
# want: stdout "main is over\n"
import atexit
import threading


class Endless:
    def __del__(self):
        while True:
            pass


def spin():
    while True:
        pass


atexit.register(spin)
threading.Thread(target=spin).start()
endless = Endless()
print("main is over")
