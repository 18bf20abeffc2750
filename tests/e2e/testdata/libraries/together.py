import io
import sys

import jinja2
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import yaml
from PIL import Image

config = yaml.safe_load("columns: [a, b]\nrows: 50")
frame = pd.DataFrame(np.arange(config["rows"] * 2).reshape(-1, 2), columns=config["columns"])
axes = frame.plot(title="both")
data = io.BytesIO()
axes.figure.savefig(data, format="png")
image = Image.open(data)
report = jinja2.Template("{{ w }}x{{ h }} {{ mean }}").render(w=image.width, h=image.height, mean=frame["a"].mean())
assert report == "640x480 49.0", report
assert np.asarray(image).shape == (480, 640, 4)
assert not [w for w in sys.modules if w == "pylab"]
print("ok")
