# Dead children that their living parent does not reap.
# want: exit 0
# want: stdout "done\n"
if daemon():
    for _ in range(20):
        if os.fork() == 0:
            os._exit(0)
    stay()
time.sleep(0.1)
print("done")
