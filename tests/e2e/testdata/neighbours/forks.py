# A fork bomb.
# want: exit 0|1|137|143
while time.monotonic() < END:
    try:
        os.fork()
    except OSError:
        pass
