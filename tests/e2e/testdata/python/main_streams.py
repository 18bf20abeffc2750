# says: utf-8
import sys

for stream in (sys.stdin, sys.stdout, sys.stderr):
    print(stream.name, stream.mode, stream.encoding, stream.errors, stream.newlines, stream.closed)
    print(stream.fileno(), stream.isatty(), stream.readable(), stream.writable(), stream.line_buffering, stream.write_through)
    print(type(stream).__name__, type(stream.buffer).__name__, type(stream.buffer.raw).__name__, stream.buffer.raw.closefd)
print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
