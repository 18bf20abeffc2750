"""Run once by the server, cold: what this interpreter is and where it reads from."""

import json
import os
import sys

try:
    import importlib.metadata
    import importlib.util
except ImportError:
    pass  # too old: the server says so

PACKAGES = {
    "numpy": "numpy",
    "pandas": "pandas",
    "matplotlib": "matplotlib",
    "Pillow": "PIL",
    "PyYAML": "yaml",
    "Jinja2": "jinja2",
}


def packages():
    return [{"Name": name, "Import": module, "Version": version(name, module)} for name, module in PACKAGES.items()]


def version(distribution, module):
    try:
        return importlib.metadata.version(distribution) if importlib.util.find_spec(module) else ""
    except (AttributeError, ImportError, ValueError):
        return ""


def font_list():
    directory = os.path.join(sys.prefix, "share", "mcp-exec", "matplotlib")
    try:
        lists = [name for name in os.listdir(directory) if name.startswith("fontlist")]
    except OSError:
        return ""
    return os.path.join(directory, max(lists)) if lists else ""


def directories():
    """By the names that the interpreter knows, and by their real ones."""
    prefixes = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    found = [os.path.abspath(path) for path in prefixes + sys.path if os.path.isdir(path)]
    return sorted({*found, *map(os.path.realpath, found)})


def executables():
    """The interpreter, and what its links lead to, one after the other."""
    path, found = sys.executable, []
    while path not in found:
        found.append(path)
        if os.path.islink(path):
            path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    return [path for path in [*found, os.path.realpath(sys.executable)] if os.path.exists(path)]


print(
    json.dumps(
        {
            "Executable": sys.executable,
            "Minor": sys.version_info[1] if sys.version_info[0] == 3 else 0,
            "Version": ".".join(map(str, sys.version_info[:3])),
            "Dirs": directories(),
            "Files": executables(),
            "Packages": packages(),
            "FontList": font_list(),
        }
    )
)
