"""Entry point: the first fork server, started by mcp-exec's init."""

import gc
import os
import socket
import sys

from forkserver import CONTROL, RULESETS, Server, play

if __name__ == "__main__":
    gc.disable()
    del sys.path[0]  # this archive
    os.set_inheritable(CONTROL, False)
    sock = socket.socket(fileno=CONTROL)
    play(Server(sock, dict(zip(sys.argv[1:], range(RULESETS, RULESETS + len(sys.argv))))).serve)
