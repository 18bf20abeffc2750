# says: finalize called
import weakref


class C:
    pass


c = C()
weakref.finalize(c, print, "finalize called")
weakref.finalize(c, print, "finalize called first")
weakref.finalize(C, print, "never").atexit = False
print("body")
