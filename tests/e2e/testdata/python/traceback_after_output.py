# exit: 1
# says: partial
# says: ValueError: x
import sys

sys.stdout.write("partial")
sys.stderr.write("mine, no newline")
raise ValueError("x\nsecond line\ttab \x1b[31m é € \ud800")
