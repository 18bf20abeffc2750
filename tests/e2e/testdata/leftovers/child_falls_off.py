# The main program ends in a child that goes on; the child's end is not the run's.
# want: exit 4
# want: stdout "parent\n"
if os.fork():
    print("parent")
    os._exit(4)
time.sleep(600)
