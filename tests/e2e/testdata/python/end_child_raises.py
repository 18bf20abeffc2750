# says: parent saw 1
# says: ValueError: in the child
import os

child = os.fork()
if child == 0:
    raise ValueError("in the child")
print("parent saw", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
