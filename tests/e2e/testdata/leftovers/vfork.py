# Children that share the parent's memory (clone with CLONE_VM) and its files.
# want: exit 0
# want: stdout "done\n"
for _ in range(3):
    subprocess.Popen(["sh", "-c", "trap '' TERM HUP; (setsid sleep 600 &) ; sleep 600"], close_fds=False)
time.sleep(0.1)
print("done")
