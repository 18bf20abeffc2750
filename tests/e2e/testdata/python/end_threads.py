# says: the thread is waited for
# says: atexit after threads
import atexit
import threading
import time


def slow():
    time.sleep(0.2)
    print("the thread is waited for", threading.main_thread().is_alive())


def forever():
    while True:
        time.sleep(1)


atexit.register(print, "atexit after threads")
threading.Thread(target=slow).start()
threading.Thread(target=forever, daemon=True).start()
print("body")
