# exit: 1
# says: finalized local
# says: ValueError
class Resource:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("finalized", self.name)


kept = Resource("global")


def f():
    mine = Resource("local")
    raise ValueError(mine.name)


f()
