# The program raises and leaves a daemon.
# want: exit 1
if daemon():
    stay()
raise ValueError("left")
