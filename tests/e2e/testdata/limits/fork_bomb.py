# want: exit 1|137
# want: note process_limit
import os

while True:
    os.fork()
