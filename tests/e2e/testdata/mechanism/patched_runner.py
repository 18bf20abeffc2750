# Rewrites the runner's own functions and constants through its frames.
# want: any
import sys

frame = sys._getframe()
while frame.f_back:
    frame = frame.f_back
    for name, value in list(frame.f_globals.items()):
        if callable(value) and name not in ("__builtins__", "__loader__"):
            frame.f_globals[name] = lambda *args, **kwargs: 3
        elif isinstance(value, int):
            frame.f_globals[name] = -1
