# says: True False
import os
import tempfile

directory = tempfile.TemporaryDirectory()
print(os.path.isdir(directory.name), os.path.exists(directory.name + "/x"))
kept = tempfile.NamedTemporaryFile()
print(os.path.exists(kept.name))
