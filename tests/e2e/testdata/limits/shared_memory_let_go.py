# Shared memory stays as long as one page of it is mapped, and is in no count then.
# want: exit 137
# want: note memory_limit
import ctypes

SIZE = 1 << 20
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
for _ in range(4096):
    start = libc.mmap(None, SIZE, 3, 0x21, -1, 0)  # PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS
    ctypes.memset(start, 1, SIZE)
    libc.munmap(start + 4096, SIZE - 4096)
