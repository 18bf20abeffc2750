# Kills every process that appears while it runs: those for later runs are being
# made now. On kernels without signal scope its filter can't know their pids.
# want: exit 0
# want: stdout "killed []\n"
import os
import signal
import time

before = {pid for pid in os.listdir("/proc") if pid.isdigit()}
killed = []
for _ in range(500):
    for pid in os.listdir("/proc"):
        if pid.isdigit() and pid not in before:
            try:
                os.kill(int(pid), signal.SIGKILL)
                killed.append(pid)
            except OSError:
                pass
    time.sleep(0.004)
print("killed", killed)
