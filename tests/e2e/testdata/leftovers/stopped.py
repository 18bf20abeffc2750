# Children that have stopped themselves.
# want: exit 0
# want: stdout "done\n"
for _ in range(10):
    if daemon():
        os.kill(os.getpid(), signal.SIGSTOP)
        stay()
print("done")
