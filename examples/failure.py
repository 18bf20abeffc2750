# An error is an ordinary result: what was printed, the traceback, exit code 1.
def mean(values):
    return sum(values) / len(values)


print("mean of three:", mean([1, 2, 6]))
print("mean of none:", mean([]))
