# A thread of machine code on each processor: more processor time than the wall clock has.
# want: timed out|exit 137
import hashlib
import threading


def burn():
    while True:
        hashlib.pbkdf2_hmac("sha256", b"x" * 1024, b"salt", 1_000_000)


for _ in range(8):
    threading.Thread(target=burn).start()
