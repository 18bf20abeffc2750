# exit: 1
# says: RuntimeError: alone
try:
    1 / 0
except ZeroDivisionError:
    raise RuntimeError("alone") from None
