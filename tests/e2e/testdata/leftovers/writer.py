# A daemon that prints for ever: its output after the end is of no interest.
# want: exit 0
if daemon():
    while True:
        os.write(1, b"x" * 4096)
time.sleep(0.05)
