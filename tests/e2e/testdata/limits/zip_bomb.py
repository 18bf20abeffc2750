# A library that allocates in one step what it can't have.
# want: exit 1|137
# want: note memory_limit
import zlib

packed = zlib.compress(bytes(1 << 20), 9)
stream = zlib.decompressobj()
kept = [zlib.decompress(packed) for _ in range(100_000)]
