# cold
import numpy as np

a = np.array([[3.0, 1.0], [1.0, 2.0]])
assert np.allclose(np.linalg.solve(a, [9.0, 8.0]), [2.0, 3.0])
assert np.allclose(np.linalg.inv(a) @ a, np.eye(2)) and np.isclose(np.linalg.det(a), 5.0)
values, vectors = np.linalg.eigh(a)
assert np.allclose(vectors @ np.diag(values) @ vectors.T, a)
u, s, v = np.linalg.svd(np.arange(12.0).reshape(3, 4), full_matrices=False)
assert np.allclose(u @ np.diag(s) @ v, np.arange(12.0).reshape(3, 4))
big = np.random.default_rng(1).random((300, 300))
assert np.allclose(np.linalg.inv(big) @ big, np.eye(300), atol=1e-6)
assert np.allclose(np.fft.ifft(np.fft.fft(np.arange(8.0))).real, np.arange(8.0))
assert np.polyfit([0, 1, 2], [1, 3, 5], 1).round(6).tolist() == [2.0, 1.0]
np.save("x.npy", a)
assert (np.load("x.npy") == a).all() and np.loadtxt(["1 2", "3 4"]).sum() == 10
assert np.random.default_rng(42).integers(0, 100, 3).tolist() == np.random.default_rng(42).integers(0, 100, 3).tolist()
np.random.seed(0)
assert abs(np.random.rand() - 0.5488135039273248) < 1e-12
assert str(np.datetime64("2024-02-29") + np.timedelta64(1, "D")) == "2024-03-01" and np.isnan(np.float64("nan"))
print("ok")
