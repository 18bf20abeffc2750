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

// dataName finds the name of what only the level "data" has warm, anywhere: an
// import may be hidden in a string. A wrong guess only costs time.
var dataName = regexp.MustCompile(`\b(?:numpy|pandas|matplotlib|PIL|yaml|jinja2)\b`)

func wantsData(code string) bool { return dataName.MatchString(code) }
