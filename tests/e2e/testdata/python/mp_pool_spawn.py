# says: [0, 1, 4, 9]
import multiprocessing


class Point:
    def __init__(self, x):
        self.x = x


def square(point):
    return point.x * point.x


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    with multiprocessing.Pool(2) as pool:
        print(pool.map(square, [Point(x) for x in range(4)]))
