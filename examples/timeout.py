# Runs for ever: ask for timeout_s 1. What it printed until then is kept.
import itertools
import time

for n in itertools.count():
    print("still here after", n * 0.4, "s", flush=True)
    time.sleep(0.4)
