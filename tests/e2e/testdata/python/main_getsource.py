# says: def f(x):
import inspect
import linecache


def f(x):
    return x + 1


class C:
    def m(self):
        pass


print(inspect.getsource(f), inspect.getsource(C), inspect.getsourcefile(f) == __file__, inspect.getfile(C) == __file__)
print(linecache.getline(__file__, 6), inspect.getmodule(f), inspect.getsourcelines(C.m))
print(inspect.getsource(inspect.currentframe())[:8], f.__code__.co_filename == __file__, f.__code__.co_firstlineno)
