# A daemon that makes files for ever, while they are being removed.
# want: exit 0
# want: stdout "done\n"
if daemon():
    for n in range(1 << 30):
        for directory in ("/tmp", "/dev/shm"):
            try:
                os.makedirs(f"{directory}/planted-{n % 500}/{n}")
            except OSError:
                pass
time.sleep(0.1)
print("done")
