# says: TestResults(failed=1, attempted=2)
"""Doc.

>>> 1 + 1
2
>>> 1 + 1
3
"""
import doctest

print(doctest.testmod())
