# exit: 1
# says: on the descriptor
import sys

sys.stderr = None
sys.exit("on the descriptor é")
