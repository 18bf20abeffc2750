# Grandchildren that ignore and block every signal that can be.
# want: exit 0
# want: stdout "done\n"
for _ in range(10):
    if daemon():
        for number in signal.valid_signals():
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        stay()
print("done")
