# Another program in a session of its own holds stdout open.
# want: exit 3
# want: stdout "done\n"
subprocess.Popen(["sleep", "600"], start_new_session=True)
print("done")
sys.exit(3)
