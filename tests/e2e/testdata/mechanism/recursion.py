# Overflows the C stack: a RecursionError or a crash, as CPython's version has it.
# want: any
import sys

sys.setrecursionlimit(1 << 30)
nested = []
for _ in range(100_000):
    nested = [nested]
repr(nested)
