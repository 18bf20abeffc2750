# exit: 1
# says: in inner
# says: return 1 / x
# says: ZeroDivisionError: division by zero
def outer(x):
    return inner(x)


def inner(x):
    return 1 / x


print("before")
outer(0)
print("never")
