# Memory that can't be reclaimed, and huge stacks.
# want: exit 1|137
# want: note memory_limit|process_limit
import ctypes
import threading
import time

ctypes.CDLL(None).mlockall(3)
threading.stack_size(64 << 20)
for _ in range(1000):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
