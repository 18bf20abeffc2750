# exit: 1
# says: During handling of the above exception
# says: The above exception was the direct cause
def a():
    try:
        {}["key"]
    except KeyError:
        raise ValueError("second")


def b():
    try:
        a()
    except ValueError as error:
        raise RuntimeError("third") from error


b()
