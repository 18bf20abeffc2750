# Double fork: an orphan, in another session.
# want: exit 0
# want: stdout "done\n"
if daemon():
    stay()
print("done")
