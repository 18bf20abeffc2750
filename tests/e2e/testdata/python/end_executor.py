# says: [0, 1, 4]
# says: late
import concurrent.futures
import time


def late():
    time.sleep(0.1)
    print("late")


pool = concurrent.futures.ThreadPoolExecutor(2)
print(list(pool.map(lambda x: x * x, range(3))))
pool.submit(late)
print("body")
