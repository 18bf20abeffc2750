# Children that fork and exit for ever: none lives long enough to be looked at.
# want: exit 0
# want: stdout "done\n"
for _ in range(8):
    if daemon():
        while True:
            try:
                if os.fork():
                    os._exit(0)
            except OSError:
                pass
time.sleep(0.2)
print("done")
