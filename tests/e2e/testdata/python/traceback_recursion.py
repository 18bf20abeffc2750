# exit: 1
# says: RecursionError: maximum recursion depth exceeded
# says: Previous line repeated
def f(n):
    return f(n + 1)


f(0)
