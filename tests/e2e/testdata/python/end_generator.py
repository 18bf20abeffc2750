# says: closed generator
def numbers():
    try:
        yield 1
        yield 2
    finally:
        print("closed generator")


g = numbers()
print(next(g))
