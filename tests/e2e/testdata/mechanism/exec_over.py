# Becomes another program, which knows nothing of a status page.
# want: exit 9
# want: stdout "sh\n"
import os

os.execv("/bin/sh", ["sh", "-c", "echo sh; exit 9"])
