# Looking at memory that holds nothing costs a page of the kernel's for every 2 MiB.
# want: exit 137
# want: note memory_limit
import ctypes

SIZE, STEP, HUGE_OFF = 64 << 30, 2 << 20, 15
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
while True:
    start = libc.mmap(None, SIZE, 1, 0x4022, -1, 0)  # PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(SIZE), HUGE_OFF)
    for offset in range(0, SIZE, STEP):
        ctypes.string_at(start + offset, 1)
