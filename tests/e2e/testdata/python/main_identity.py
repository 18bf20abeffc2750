# says: __main__ ['main.py'] True
# says: ['main.py']
import os
import sys

print(__name__, sys.argv, sys.path[0] == os.getcwd())
print(os.listdir("."), __file__ == os.path.abspath("main.py"), open("main.py").read() == open(__file__).read())
print(sorted(globals()), __doc__, __package__, __spec__, __cached__)
print(type(__loader__).__name__, __loader__.path == __file__, __loader__.name, __loader__.get_source("__main__")[:10])
print(sys.modules["__main__"].__dict__ is globals())
print(type(sys.modules["__main__"]), repr(sys.modules["__main__"]), __builtins__)
print(sys.orig_argv[1:], sys.flags, sys.warnoptions, sys._xoptions)
print(sys.executable, sys.prefix, sys.exec_prefix, sys.base_prefix, sys.version)
