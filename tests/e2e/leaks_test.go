//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// levels are the two kinds of worker; the import decides which one runs a program.
var levels = map[string]string{"base": "", "data": "import numpy\n"}

// leak is a program of testdata/leaks for one level.
func leak(t testing.TB, name, prefix string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/leaks", name))
	if err != nil {
		t.Fatal(err)
	}
	return prefix + string(text)
}

func TestNothingIsShared(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, want := range map[string]string{"leaks.py": "found []\n", "ipc.py": "made " + pick(t, s.place(t), ownIPC) + "\n"} {
		for level, prefix := range levels {
			t.Run(level+" "+name, func(t *testing.T) {
				// More runs than there are slots, so that each has its second one.
				for range 5 {
					if got := s.run(leak(t, name, prefix)); got.Stdout != want || got.Stderr != "" {
						t.Fatalf("%s", got.brief())
					}
				}
			})
		}
	}
}

// ownIPC is what a program can make in its ipc namespace: the same in every run.
var ownIPC = map[string]string{
	"namespaces kernel>=6.9": "['shmget', 'semget', 'msgget', 'mq_open']",
	"namespaces kernel<6.9":  "[]",
	"landlock":               "[]",
	"container":              "[]",
}

// workDirectory is what a program is told of where it is. What runs share a mount
// for has a name that no earlier run can know.
var workDirectory = map[string]string{
	"namespaces": `^/tmp/work\n$`,
	"landlock":   `^(/tmp|/dev/shm)/[0-9a-f]{32}\n$`,
	"container":  `^(/tmp|/dev/shm)/[0-9a-f]{32}\n$`,
}

func TestWorkDirectory(t *testing.T) {
	t.Parallel()
	s := start(t)
	name := regexp.MustCompile(pick(t, s.place(t), workDirectory))
	seen := map[string]bool{}
	for range 3 {
		got := s.run("import os; print(os.getcwd())")
		if !name.MatchString(got.Stdout) {
			t.Errorf("%q does not match %s", got.Stdout, name)
		}
		if seen[got.Stdout] && !s.place(t).is(t, "namespaces") {
			t.Errorf("%q for the second time", got.Stdout)
		}
		seen[got.Stdout] = true
	}
}

func TestNoFileIsLeft(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, p := range specimens(t, "plants") {
		t.Run(p.name, func(t *testing.T) { p.run(t, s.in(t)) })
	}
	s.unharmed(t)
}

func TestRandomNumbersDiffer(t *testing.T) {
	t.Parallel()
	s := start(t)
	seen := map[string]string{}
	for level, prefix := range levels {
		for n := range 4 {
			got := s.run(leak(t, "random_numbers.py", prefix))
			if got.ExitCode != 0 || got.Stdout == "" {
				t.Fatalf("%s", got.brief())
			}
			for line := range strings.Lines(got.Stdout) {
				run := fmt.Sprint(level, " ", n)
				if before, ok := seen[line]; ok {
					t.Errorf("run %s and run %s: both have %s", before, run, line)
				}
				seen[line] = run
			}
		}
	}
}

// No fork server sees a caller's data, so no worker can inherit it.
func TestMemoryHoldsNoEarlierRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	for level, prefix := range levels {
		t.Run(level, func(t *testing.T) {
			for n := range 3 { // more than there are slots
				mark := fmt.Sprintf("-of-%08x", 0xabc00000+n)
				res := s.call(args{"code": prefix + "print('std' + 'out" + mark + "' + 'x' * 99, input()[:5]) # code" + mark, "stdin": "stdin" + mark + "\n"})
				if !strings.Contains(res.Stdout, "stdout"+mark) {
					t.Fatalf("%s", res.brief())
				}
			}
			if got := s.run(leak(t, "memory.py", prefix)); got.Stdout != "found []\n" {
				t.Errorf("%s", got.brief())
			}
			// It does find what is there.
			own := s.call(args{"code": prefix + "text = 'code' + '-of-12345678'\n" + leak(t, "memory.py", "")})
			if !strings.Contains(own.Stdout, "-of-12345678") {
				t.Errorf("the search finds nothing: %s", own.brief())
			}
		})
	}
}
