# Asks for what the kernel keeps one budget of for the whole host: compiled socket
# filters (without room for one no seccomp filter can be made either, so that no
# worker could be confined), and socket buffers above the default. Prints refused.
import socket
import struct

SO_SNDBUF, SO_RCVBUF, SO_ATTACH_FILTER, SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_ATTACH_BPF, SO_REUSEPORT_CBPF, SO_REUSEPORT_EBPF = 7, 8, 26, 32, 33, 50, 51, 52
sock, other = socket.socketpair()
instruction = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xffff))
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(instruction))


def option(number, value):
    sock.setsockopt(socket.SOL_SOCKET, number, value)


attempt("attach a filter to a socket", option, SO_ATTACH_FILTER, program)
attempt("attach bpf to a socket", option, SO_ATTACH_BPF, struct.pack("i", 0), uncontrolled="needs a loaded program")
attempt("attach a filter to a port", option, SO_REUSEPORT_CBPF, program, uncontrolled="needs a socket of a shared port")
attempt("attach bpf to a port", option, SO_REUSEPORT_EBPF, struct.pack("i", 0), uncontrolled="needs a loaded program")
for name, number in (("send", SO_SNDBUF), ("receive", SO_RCVBUF)):
    attempt(f"enlarge the {name} buffer", option, number, 1 << 20)
for name, number in (("send", SO_SNDBUFFORCE), ("receive", SO_RCVBUFFORCE)):
    attempt(f"force the {name} buffer", option, number, 1 << 20)
