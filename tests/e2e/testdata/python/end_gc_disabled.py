# says: body
import gc


class C:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("finalized", self.name)


gc.disable()
late = C("late")
cycle = C("cycle")
cycle.self = cycle
del cycle
print("body")
