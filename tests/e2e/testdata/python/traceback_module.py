# exit: 1
# says: mine.py", line 2, in f
open("mine.py", "w").write("def f(x):\n    return x.missing\n")
import mine

mine.f(5)
