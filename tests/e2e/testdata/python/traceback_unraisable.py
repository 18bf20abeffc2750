# says: Exception ignored
# says: RuntimeError: in __del__
class C:
    def __del__(self):
        raise RuntimeError("in __del__")


c = C()
del c
print("after")
