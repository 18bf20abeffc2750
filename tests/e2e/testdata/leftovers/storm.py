# A fork storm that is still growing when the program ends.
# want: any
if os.fork() == 0:
    os.setsid()
    while True:
        try:
            os.fork()
        except OSError:
            pass
time.sleep(0.1)
print("done")
