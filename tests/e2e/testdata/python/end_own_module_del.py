# says: finalized in mine
open("mine.py", "w").write("""
class C:
    def __del__(self):
        print("finalized in mine", helper())

def helper():
    return "with its global"

kept = C()
""")
import mine

print(mine.kept is not None)
