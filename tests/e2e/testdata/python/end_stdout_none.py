# says: ok
import sys

print("ok")
sys.stdout = None
print("nowhere")
