# Grows until an allocation fails, or the watchdog comes.
# want: exit 1|137
# want: note memory_limit
kept = []
while True:
    kept.append(bytearray(1 << 20))
