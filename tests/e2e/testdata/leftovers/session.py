# A child in a session of its own holds stdout open.
# want: exit 0
# want: stdout "done\n"
if os.fork() == 0:
    os.setsid()
    stay()
print("done")
