# The program dies of a signal and leaves a daemon.
# want: exit 139
# want: note killed_signal
if daemon():
    stay()
ctypes.string_at(0)
