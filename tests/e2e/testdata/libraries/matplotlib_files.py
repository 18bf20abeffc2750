import os

import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 6, 100)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
left.plot(x, np.sin(x), label="sin $x^2$ äöü")
left.set_title("Größe — naïve")
left.legend()
right.bar(["a", "b"], [1, 2])
right.hist([1, 2, 2, 3])
figure.suptitle(r"$\alpha + \frac{1}{2}$")
figure.tight_layout()
for name, begin in (("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.pdf", b"%PDF"), ("p.jpg", b"\xff\xd8")):
    figure.savefig(name)
    data = open(name, "rb").read()
    assert data.startswith(begin) and len(data) > 3000, (name, len(data))
from PIL import Image

assert Image.open("p.png").size == (800, 300)
plt.figure()
plt.imshow(np.random.rand(10, 10))
plt.colorbar()
plt.savefig("q.png", dpi=50)
plt.close("all")
plt.plot([1, 2])
assert plt.get_backend().lower() == "agg", plt.get_backend()
print(os.path.getsize("q.png") > 500)
print("ok")
