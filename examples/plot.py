# Plots are drawn without a display; the working directory takes the file.
import os

import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 12, 600)
plt.plot(x, np.sin(2 * x) * np.exp(-x / 4))
plt.title("A damped wave")
plt.savefig("wave.png")
print("wave.png:", os.path.getsize("wave.png"), "bytes")
