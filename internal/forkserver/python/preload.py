"""What is imported and exercised once, so that no run pays for it."""

import io
import os


def preload(modules, font_cache):
    """Imports what runs will import; returns those that failed, with the reason."""
    missing = {}
    with _matplotlib_directory(font_cache):
        for name in modules:
            try:
                __import__(name)
                EXERCISES.get(name, _nothing)()
            except Exception as error:
                missing[name] = f"{type(error).__name__}: {error}"
    return missing


def _nothing():
    pass


class _matplotlib_directory:
    """matplotlib refuses a font cache that it could not write to, and would make
    a directory under /tmp instead, where a run could meet it. Without a cache
    the fonts are looked up in memory: /proc is a directory that nobody can fill."""

    def __init__(self, font_cache):
        self.path = font_cache or "/proc"

    def __enter__(self):
        self.access, os.access = os.access, lambda *args, **kwargs: True
        os.environ["MPLCONFIGDIR"] = self.path
        os.environ["MPLBACKEND"] = "Agg"

    def __exit__(self, *exc):
        os.access = self.access


def _numpy():
    import numpy

    table = numpy.arange(64.0).reshape(8, 8)
    (table @ table).sum()
    numpy.random.rand(2)


def _pandas():
    import pandas

    frame = pandas.read_csv(io.StringIO("k,v\na,1\nb,2\na,3\n"))
    str(frame.groupby("k").sum())
    str(frame.describe())


def _pyplot():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.plot([1, 2], label="x")
    axes.legend()
    axes.set_title("x")
    figure.savefig(io.BytesIO(), format="png")
    pyplot.close("all")


def _pil():
    from PIL import Image

    Image.init()


def _jinja2():
    import jinja2

    jinja2.Template("{{ x }}").render(x=1)


EXERCISES = {
    "numpy": _numpy,
    "pandas": _pandas,
    "matplotlib.pyplot": _pyplot,
    "PIL.Image": _pil,
    "jinja2": _jinja2,
}


def data_bytes():
    """VmData, bytes: what RLIMIT_DATA of a child counts before it has done anything."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    raise OSError("no VmData in /proc/self/status")
