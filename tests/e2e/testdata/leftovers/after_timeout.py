# The wall clock ends the program, its children and the daemons that it left.
# want: timed out
# want: stdout "before\n"
for _ in range(5):
    if daemon() or os.fork() == 0:
        stay()
print("before")
stay()
