# want: exit 1|137
# want: note disk_full|memory_limit
for n in range(1000):
    with open(f"/tmp/fill-{n}", "wb") as file:
        file.write(b"x" * (1 << 20))
