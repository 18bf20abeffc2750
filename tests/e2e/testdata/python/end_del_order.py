# says: Del first
class Del:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("Del", self.name)


first = Del("first")
second = Del("second")
_third = Del("third")
__fourth = Del("fourth")
holder = {"key": Del("fifth")}
print("body")
