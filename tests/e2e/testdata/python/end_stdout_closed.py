# says: still here
import sys

print("body")
sys.stdout.close()
print("still here", file=sys.stderr)
