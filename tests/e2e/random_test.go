//go:build linux

package e2e

import "testing"

// TestRandomState: what is random must not be the same in two runs, though both
// are forked from the same interpreter.
func TestRandomState(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, tt := range []struct{ name, code string }{
		{"random", "import random; print(random.random(), random.getrandbits(64))"},
		{"random in a child", "import os, random\nif os.fork() == 0:\n    print(random.random())\n    os._exit(0)\nos.wait()"},
		{"SystemRandom", "import random; print(random.SystemRandom().random())"},
		{"numpy legacy", "import numpy; print(numpy.random.rand(), numpy.random.randint(0, 2**60))"},
		{"numpy generator", "import numpy; print(numpy.random.default_rng().random())"},
		{"numpy, cold", "np = __import__('num' + 'py'); print(np.random.rand())"},
		{"numpy state", "import numpy; print(numpy.random.get_state()[1][:3])"},
		{"pandas sample", "import pandas; print(list(pandas.Series(range(10**6)).sample(5)))"},
		{"uuid", "import uuid; print(uuid.uuid4())"},
		{"uuid1", "import uuid; print(uuid.uuid1())"},
		{"secrets", "import secrets; print(secrets.token_hex())"},
		{"os.urandom", "import os; print(os.urandom(8))"},
		{"tempfile", "import tempfile; print(tempfile.mktemp(dir='/'))"},
		{"multiprocessing", "import multiprocessing; print(bytes(multiprocessing.current_process().authkey))"},
		{"ssl", "import ssl; print(ssl.RAND_bytes(8))"},
		{"sqlite", "import sqlite3; print(sqlite3.connect(':memory:').execute('select random()').fetchone())"},
		{"hash in a child interpreter", "import subprocess, sys; print(subprocess.getoutput(sys.executable + ' -c \"print(hash(chr(97)))\"'))"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first, second := s.in(t).run(tt.code), s.in(t).run(tt.code)
			if first.ExitCode != 0 || first.Stdout == "" || first.Stderr != "" {
				t.Fatalf("%+v", first)
			}
			if first.Stdout == second.Stdout {
				t.Errorf("two runs both print %q", first.Stdout)
			}
		})
	}
}

// TestSeeded: what is seeded must be the same in every run.
func TestSeeded(t *testing.T) {
	t.Parallel()
	s := start(t)
	for code, want := range map[string]string{
		"import random; random.seed(1); print(random.random())":                               "0.13436424411240122\n",
		"import numpy; numpy.random.seed(1); print(numpy.random.rand())":                      "0.417022004702574\n",
		"import numpy; print(numpy.random.default_rng(1).random())":                           "0.5118216247002567\n",
		"import random; print(random.Random(5).randint(1, 10**9))":                            "668835602\n",
		"import uuid; print(uuid.uuid5(uuid.NAMESPACE_DNS, 'python.org'))":                    "886313e1-3b8a-5372-9b90-0c9aee199e5d\n",
		"print(hash(1), hash(1.5), hash((1, 2)) == hash((1, 2)), {1: 2}, sorted({'b', 'a'}))": "1 1152921504606846977 True {1: 2} ['a', 'b']\n",
	} {
		if got := s.run(code); got.Stdout != want {
			t.Errorf("%s: %q (%s), want %q", code, got.Stdout, got.Stderr, want)
		}
	}
}
