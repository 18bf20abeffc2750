import importlib

pd = importlib.import_module("pan" + "das")
np = __import__("num" + "py")
assert pd.DataFrame({"a": np.arange(3)})["a"].sum() == 3
exec("import ya" + "ml; assert ya" + "ml.safe_load('a: 1') == {'a': 1}")
print("ok")
