# exit: 1
# says: Error
import sys

if sys.version_info >= (3, 11):
    error = ValueError("with notes")
    error.add_note("a note")
    raise ExceptionGroup("several", [error, ExceptionGroup("inner", [TypeError("t"), OSError(2, "No such file")])])
raise ValueError("no groups")
