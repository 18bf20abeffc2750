open("mine.py", "w").write("import %s as n\n\ndef f():\n    return n.ones(3).sum()\n" % ("num" + "py"))
import mine

assert mine.f() == 3.0
print("ok")
