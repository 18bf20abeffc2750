# Fills its directories, then its memory.
# want: exit 137
# want: note memory_limit
for path in ("/tmp/full", "/dev/shm/full"):
    with open(path, "wb", buffering=0) as file:
        try:
            while file.write(bytes(1 << 20)):
                pass
        except OSError:
            pass
for _ in tries():
    pass
kept = []
while True:
    if os.fork() == 0:
        kept = bytearray(os.urandom(1 << 20) * 64)
        time.sleep(600)
    time.sleep(0.1)
