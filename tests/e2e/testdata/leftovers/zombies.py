# 500 orphans that have died: somebody must reap them.
# want: exit 0
# want: stdout "done\n"
for _ in range(500):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
print("done")
