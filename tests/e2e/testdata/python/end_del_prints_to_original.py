# says: goes to the original stdout
import io
import sys


class C:
    def __del__(self):
        print("goes to the original stdout")


c = C()
sys.stdout = io.StringIO()
print("lost")
