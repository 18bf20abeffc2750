# Daemon threads that never end, and a child with threads.
# want: exit 0
# want: stdout "done\n"
import threading

for _ in range(5):
    threading.Thread(target=stay, daemon=True).start()
if daemon():
    for _ in range(5):
        threading.Thread(target=stay).start()
    stay()
print("done")
