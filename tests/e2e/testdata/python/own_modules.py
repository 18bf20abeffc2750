# says: worker forkserver janitor preload
import importlib.util
import os
import sys

names = ["worker", "forkserver", "janitor", "preload", "sitting", "__main2__"]
for name in names:
    with open(name + ".py", "w") as file:
        file.write("def who():\n    return __name__\n")
for name in names:
    if name in sys.modules:
        print("already there:", name)
importlib.invalidate_caches()
print(*(importlib.import_module(name).who() for name in names))
import worker

print(worker.__file__ == os.path.abspath("worker.py"), os.path.isdir("__pycache__"), sorted(os.listdir()))
os.makedirs("pkg/sub")
open("pkg/__init__.py", "w").write("from . import a\n")
open("pkg/a.py", "w").write("from .sub import b\nvalue = b.value + 1\n")
open("pkg/sub/__init__.py", "w").write("")
open("pkg/sub/b.py", "w").write("value = 1\n")
import pkg

print(pkg.a.value, pkg.__path__ == [os.path.abspath("pkg")], importlib.reload(worker).who())
print(importlib.util.find_spec("main").origin == __file__)


