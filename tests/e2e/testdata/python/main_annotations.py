# says: int
x: int = 5
y: "str"
print(__annotations__ if "__annotations__" in globals() else __annotate__(1))
print(__debug__, (lambda: 0).__module__, type("T", (), {}).__module__)
