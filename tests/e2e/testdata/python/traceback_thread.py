# says: Exception in thread worker-1
# says: after
import threading


def f():
    raise ValueError("in a thread")


thread = threading.Thread(target=f, name="worker-1")
thread.start()
thread.join()
print("after")
