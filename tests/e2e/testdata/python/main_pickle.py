# says: Point(x=1, y=2)
import copyreg
import dataclasses
import pickle


@dataclasses.dataclass
class Point:
    x: int
    y: int


def f():
    pass


data = pickle.dumps([Point(1, 2), f, Point], 4)
print(b"__main__" in data, pickle.loads(data)[0], pickle.loads(data)[1] is f, pickle.loads(data)[2] is Point)
open("p.pickle", "wb").write(data)
print(pickle.load(open("p.pickle", "rb"))[0] == Point(1, 2), copyreg.dispatch_table is not None)
