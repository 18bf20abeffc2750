# says: parent saw 5
import atexit
import os
import sys

atexit.register(lambda: print("atexit"))
child = os.fork()
if child == 0:
    sys.exit(5)
print("parent saw", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
