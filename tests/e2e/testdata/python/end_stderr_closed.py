# exit: 1
# says: body
import sys

print("body")
sys.stderr.close()
sys.exit("nowhere")
