# exit: 1
# says: ^^^^
# says: TypeError
value = {"a": [1, 2, {"b": None}]}
text = (
    value["a"][0]
    + value["a"][2]["b"]["c"]["d"] + len("äöü€😀")
)
