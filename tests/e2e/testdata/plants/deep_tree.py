# A tree 4,000 levels deep, with a file on each.
# want: exit 0
import os

for level in range(4000):
    os.mkdir("d")
    os.close(os.open("file", os.O_CREAT))
    os.chdir("d")
