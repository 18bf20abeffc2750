# Looks for the neighbour in every table of processes, and reads what it finds.
# want: exit 0
# want: stdout "found set()\n"
found = set()
for _ in tries():
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            found.add(name)
    for pid in list(range(1, 4096)):
        for file in ("environ", "mem", "maps", "cmdline", "cwd/main.py", "root/tmp/victim"):
            if pid != os.getpid() and os.path.exists(f"/proc/{pid}/{file}"):
                found.add(f"{pid} {file}")
    for table in ("tcp", "tcp6", "udp", "unix"):
        with open(f"/proc/net/{table}") as file:
            found.update(file.readlines()[1:])
print("found", found)
