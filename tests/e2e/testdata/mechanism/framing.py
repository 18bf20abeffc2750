# Prints what the server and its parts say to each other.
# want: exit 0
import os
import sys

for line in ('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}', '{"event":"exit","pid":1,"status":0}', '{"event": "killed"}', "\x00\x1e\r\n\r\n"):
    print(line)
    print(line, file=sys.stderr)
os.write(1, b"Content-Length: 0\r\n\r\n")
