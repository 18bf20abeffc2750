# Maps a file of the temporary directory and writes to more of it than fits.
# want: exit 1|exit 135|exit 137
import mmap

with open("mapped", "w+b") as file:
    file.truncate(64 << 20)
    with mmap.mmap(file.fileno(), 64 << 20) as memory:
        for offset in range(0, 64 << 20, 4096):
            memory[offset] = 1
with open("more", "wb") as file:
    file.write(b"x" * (8 << 20))
