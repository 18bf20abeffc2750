# Reads what /proc shows of the server, its fork servers, init and the waiting
# workers: environment, memory, descriptors. Prints refused for each.
import re


def read(pid, name):
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return len(file.read(4096))


def memory(pid):
    """Opening may be allowed where reading is not: read the first page of the stack."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
        line = next(line for line in maps if "[stack]" in line)
        file.seek(int(line.split("-")[1].split()[0], 16) - 4096)
        return len(file.read(4096))


def write(pid, name):
    with open(f"/proc/{pid}/{name}", "wb", buffering=0) as file:
        return file.write(b"1\n")


def threads(pid, name):
    for task in os.listdir(f"/proc/{pid}/task"):
        read(pid, f"task/{task}/{name}")


def environ_of_threads(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/environ", "rb") as file:
            if re.search(CANARY, file.read()):
                return "found the canary"


def open_descriptor(pid):
    return os.open(f"/proc/{pid}/fd/0", os.O_RDONLY)


def by_root(pid):
    return os.listdir(f"/proc/{pid}/root/")


for name in ("environ", "auxv", "maps", "smaps", "pagemap", "syscall", "stack", "io", "personality"):
    against("read " + name, read, name)
against("read mem", memory)
against("open mem to write", lambda pid: os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR)))
# A waiting worker has the same uid in a container, and lists what its program
# will see: 0, 1, 2 and the socket that is closed before.
against("read mountstats", read, "mountstats", spares=False)
against("list fd", lambda pid: os.listdir(f"/proc/{pid}/fd"), spares=False)
against("open fd 0", open_descriptor)
against("list map_files", lambda pid: os.listdir(f"/proc/{pid}/map_files"))
against("list fdinfo", lambda pid: os.listdir(f"/proc/{pid}/fdinfo"))
for link in ("cwd", "root", "exe"):
    against("follow " + link, lambda pid, link: os.readlink(f"/proc/{pid}/{link}"), link)
against("list root", by_root)
for link in ("mnt", "net", "pid", "user", "ipc"):
    against("open ns/" + link, lambda pid, link: os.close(os.open(f"/proc/{pid}/ns/{link}", os.O_RDONLY)), link)
against("environ of each thread", environ_of_threads)
against("maps of each thread", threads, "maps")
for name, why in (("oom_score_adj", ""), ("comm", "only by its own threads"), ("clear_refs", ""), ("timerslack_ns", ""), ("coredump_filter", ""),
                  ("autogroup", "not in every kernel"), ("uid_map", "only once, by a new user namespace"),
                  ("attr/current", "needs a security module"), ("loginuid", "needs audit")):
    against("write " + name, write, name, uncontrolled=why)
