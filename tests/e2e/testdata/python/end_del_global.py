# says: finalized with helper
import sys


class Resource:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        helper(self.name)


def helper(name):
    print("finalized with helper", name, sys is not None)


first = Resource("first")
_private = Resource("private")
items = [Resource("in a list")]
cycle = Resource("cycle")
cycle.self = cycle
print("body")
