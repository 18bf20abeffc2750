# says: mine
import importlib.util
import os
import sys

for name in ("mcp_exec", "_mcp", "run", "runner", "sandbox", "server", "code_to_run"):
    print(name, importlib.util.find_spec(name))
open("wave_of_mine.py", "w").write("name = 'mine'\n")
import wave_of_mine

print(wave_of_mine.name)
sys.path.insert(0, os.path.abspath("lib"))
os.mkdir("lib")
open("lib/deep.py", "w").write("x = 'deep'\n")
import deep

print(deep.x, [p for p in sys.path if "lib" in os.path.basename(p) and not p.startswith(sys.prefix) and not p.startswith(sys.base_prefix)])
