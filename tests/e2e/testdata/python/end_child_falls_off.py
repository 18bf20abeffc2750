# exit: 4
# says: child
# says: parent
import atexit
import os
import sys


class Resource:
    def __del__(self):
        print("finalized in", role)


resource = Resource()
atexit.register(lambda: print("atexit in", role))
role = "parent"
sys.stdout.write("no newline|")
sys.stdout.flush()
child = os.fork()
if child == 0:
    role = "child"
    print("child goes on")
else:
    print("parent saw", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    sys.exit(4)
