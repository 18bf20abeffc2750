//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
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
	s := start(t)
	for level, prefix := range levels {
		for _, name := range []string{"leaks.py", "ipc.py"} {
			t.Run(level+" "+name, func(t *testing.T) {
				// More runs than there are slots, so that each has its second one.
				for range 5 {
					if got := s.run(leak(t, name, prefix)); got.Stdout != "found []\n" || got.Stderr != "" {
						t.Fatalf("%s", got.brief())
					}
				}
			})
		}
	}
}

func TestNoFileIsLeft(t *testing.T) {
	s := start(t)
	for _, p := range specimens(t, "plants") {
		t.Run(p.name, func(t *testing.T) { p.run(t, s.in(t)) })
	}
	s.unharmed(t)
}

func TestRandomNumbersDiffer(t *testing.T) {
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
			if !strings.Contains(own.Stdout, "code-of-12345678") {
				t.Errorf("the search finds nothing: %s", own.brief())
			}
		})
	}
}
