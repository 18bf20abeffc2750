# says: child done
# says: parent saw 0
import os


def work():
    child = os.fork()
    if child == 0:
        print("child done")
        return
    print("parent saw", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


work()
