# cold
import os

import matplotlib
import matplotlib.font_manager
import matplotlib.pyplot as plt

plt.plot([1, 2])
plt.savefig("a.png")
assert os.path.isdir(matplotlib.get_cachedir()) and os.path.isdir(matplotlib.get_configdir())
assert matplotlib.font_manager.findfont("DejaVu Sans").endswith(".ttf")
with plt.style.context("ggplot"):
    plt.figure()
    plt.plot([1, 2])
from mpl_toolkits.mplot3d import Axes3D

axes = plt.figure().add_subplot(projection="3d")
axes.plot_surface(*__import__("numpy").meshgrid([0.0, 1.0], [0.0, 1.0]), __import__("numpy").ones((2, 2)))
plt.savefig("b.png")
assert Axes3D.name == "3d" and sorted(f for f in os.listdir() if f.endswith("png")) == ["a.png", "b.png"]
print("ok")
