# want: exit 1|137
# want: note process_limit|memory_limit
import threading
import time

while True:
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
