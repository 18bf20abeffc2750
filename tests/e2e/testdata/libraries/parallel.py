import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd


def total(seed):
    return float(pd.Series(np.random.default_rng(seed).random(1000)).sum())


if __name__ == "__main__":
    expected = [total(n) for n in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(total, range(4)) == expected
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(total, range(4))) == expected
        products = list(threads.map(lambda n: (np.eye(100) * n) @ np.eye(100), range(4)))
        assert products[3][5, 5] == 3
    print("ok")
