# exit: 1
# says: File "<string>", line 2, in g
# says: File "<made up>", line 1
exec("def g():\n    return 1 / 0")
try:
    g()
except ZeroDivisionError:
    import traceback

    traceback.print_exc()
eval(compile("undefined_name", "<made up>", "eval"))
