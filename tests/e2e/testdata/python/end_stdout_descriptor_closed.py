# exit: 120
# says: Bad file descriptor
import os
import sys

sys.stdout.write("buffered, no newline")
os.close(1)
