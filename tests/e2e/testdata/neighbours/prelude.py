# Comes before every attacker. All run at once, beside a victim that uses what each of
# them goes for.
import os
import time

END = time.monotonic() + 3
PORTS, KEY = (18090, 18091), 0x71C7


def tries():
    while time.monotonic() < END:
        yield
        time.sleep(0.05)


