# A directory and a link that change places for ever, in a child that is
# still at it when the sweep begins.
# want: exit 0
import os
import time

if os.fork() == 0:
    os.setsid()
    os.makedirs("/tmp/swap/inner")
    os.symlink("/usr", "/tmp/other")
    while True:
        os.rename("/tmp/swap", "/tmp/third")
        os.rename("/tmp/other", "/tmp/swap")
        os.rename("/tmp/third", "/tmp/other")
time.sleep(0.1)
