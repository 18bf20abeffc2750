"""Checks Python sources where nothing but Python is installed.

lint.py FILE... reports syntax errors and warnings, names that are nowhere
defined, and imports that are not used; exit 1 when there is one.
"""

import builtins
import symtable
import sys
import warnings

PREDEFINED = {*dir(builtins), "__file__", "__annotations__"}


def scopes(table):
    yield table
    for child in table.get_children():
        yield from scopes(child)


def faults(source, path):
    compile(source, path, "exec")
    module = symtable.symtable(source, path, "exec")
    defined, imported, used = set(PREDEFINED), set(), set()
    for scope in scopes(module):
        for symbol in scope.get_symbols():
            if scope is not module and not symbol.is_global():
                continue
            name = symbol.get_name()
            if symbol.is_assigned() or symbol.is_imported():
                defined.add(name)
            if symbol.is_imported():
                imported.add(name)
            if symbol.is_referenced():
                used.add(name)
    yield from (f"{name} is not defined" for name in sorted(used - defined))
    yield from (f"{name} is imported and not used" for name in sorted(imported - used))


def check(path):
    with open(path, encoding="utf-8") as f:
        source = f.read()
    try:
        return list(faults(source, path))
    except SyntaxError as e:  # a warning made an error is one too
        return [f"line {e.lineno}: {e.msg}"]


def main(paths):
    warnings.simplefilter("error")
    found = [f"{path}: {fault}" for path in paths for fault in check(path)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
