# Prints what must differ between any two runs, one a line.
import multiprocessing
import os
import random
import secrets
import sys
import tempfile
import uuid

print(random.random(), secrets.token_hex(8), uuid.uuid4().hex, os.urandom(8).hex(), next(tempfile._get_candidate_names()),
      multiprocessing.current_process().authkey.hex(), sep="\n")
if "numpy" in sys.modules:
    import numpy

    print(numpy.random.rand(), numpy.random.default_rng().random(), numpy.random.randint(1 << 60), sep="\n")
