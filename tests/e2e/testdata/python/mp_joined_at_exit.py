# says: child done
import multiprocessing
import time


def slow():
    time.sleep(0.2)
    print("child done")


if __name__ == "__main__":
    multiprocessing.get_context("fork").Process(target=slow).start()
    print("body")
