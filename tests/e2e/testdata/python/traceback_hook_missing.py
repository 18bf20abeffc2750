# exit: 1
# says: sys.excepthook is missing
import sys

del sys.excepthook
1 / 0
