# Prints until the clock ends it.
# want: timed out
# want: truncated
import os

while True:
    os.write(1, b"0123456789abcde\n" * 4096)
