# says: C.UTF-8
import os
import sys
import tempfile
import time

print(sorted(set(os.environ) - {"PYTHONPATH"}))
print({k: v for k, v in sorted(os.environ.items()) if k not in ("HOME", "TMPDIR", "MPLCONFIGDIR", "PYTHONPATH")})
print(os.environ["HOME"] == os.environ["TMPDIR"] == tempfile.gettempdir(), time.tzname, time.timezone)
os.environ["ADDED"] = "1"
print(os.popen("echo $ADDED; env | wc -l").read() != "", os.getenvb(b"ADDED"), os.getenv("NOT_THERE"))
print(os.path.expanduser("~") == os.environ["HOME"], sys.flags.utf8_mode)
