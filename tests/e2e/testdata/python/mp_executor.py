# says: [1, 2, 6, 24]
# says: ValueError in a worker
import concurrent.futures
import math
import multiprocessing


def fail():
    raise ValueError("ValueError in a worker")


if __name__ == "__main__":
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            print(list(pool.map(math.factorial, range(1, 5))))
            try:
                pool.submit(fail).result()
            except ValueError as error:
                print(error)
