# want: exit 1
# want: note memory_limit
# want: stderr "MemoryError"
bytearray(1 << 34)
