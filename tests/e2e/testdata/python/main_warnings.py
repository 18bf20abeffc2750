# says: main.py:6: UserWarning: seen
# says: DeprecationWarning: old
import warnings


warnings.warn("seen")
warnings.warn("seen", stacklevel=1)
warnings.warn("old", DeprecationWarning)


def f():
    warnings.warn("from the caller", stacklevel=2)


f()
print("a" is "b")
"\d"
