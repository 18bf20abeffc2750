package pool

import "regexp"

// The modules that each level has warm. "base" is the standard library that
// programs use most, and everything that the runner itself needs.
var (
	baseModules = []string{"argparse", "array", "ast", "asyncio", "base64", "bisect", "calendar", "cmath", "collections.abc",
		"concurrent.futures.process", "concurrent.futures.thread", "contextlib", "copy", "csv", "dataclasses", "datetime",
		"decimal", "difflib", "enum", "fractions", "functools", "getpass", "glob", "gzip", "hashlib", "heapq", "hmac",
		"html.parser", "inspect", "io", "itertools", "json", "locale", "logging", "math", "multiprocessing.pool",
		"multiprocessing.queues", "multiprocessing.synchronize", "numbers", "operator", "pathlib", "pickle", "platform",
		"pprint", "queue", "random", "re", "secrets", "shutil", "socket", "sqlite3", "statistics", "string", "struct",
		"subprocess", "tempfile", "textwrap", "threading", "time", "traceback", "types", "typing", "unicodedata",
		"unittest", "urllib.parse", "urllib.request", "uuid", "warnings", "weakref", "xml.etree.ElementTree", "zipfile",
		"zlib", "zoneinfo"}
	dataModules = []string{"numpy", "numpy.random", "pandas", "matplotlib.pyplot", "PIL.Image", "yaml", "jinja2"}
)

// dataImport finds an import of what only the level "data" has warm. It may be
// wrong in both directions (a string, importlib): that only costs time.
var dataImport = regexp.MustCompile(
	`(?m)^[^#\n]*\b(?:import|from)\s[^#\n]*\b(?:numpy|pandas|matplotlib|PIL|yaml|jinja2)\b`)

func wantsData(code string) bool { return dataImport.MatchString(code) }
