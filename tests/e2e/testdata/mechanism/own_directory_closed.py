# Takes all rights from its working directory, and raises there.
# want: exit 1
import os

os.mkdir("inner")
os.chmod("inner", 0)
os.chmod(".", 0)
os.chdir("/")
raise ValueError("where is the source now?")
