//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLibraries runs the programs under testdata/libraries: real uses of the six
// libraries. Each checks its own values; it must end with 0, print "ok" as its
// last line and nothing on stderr.
func TestLibraries(t *testing.T) {
	t.Parallel()
	s := start(t)
	files, err := filepath.Glob("testdata/libraries/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".py"), func(t *testing.T) {
			s.in(t).good(string(code))
		})
		// The scan finds no import here, so a cold interpreter has to do it.
		if strings.HasPrefix(string(code), "# cold\n") {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".py")+", cold", func(t *testing.T) {
				s.in(t).good("code = " + pythonString(string(code)) + "\nexec(compile(code, 'main.py', 'exec'))\n")
			})
		}
	}
}

// good runs a program that must print ok at its end and nothing on stderr.
func (s *server) good(code string) {
	s.t.Helper()
	got := s.call(args{"code": code, "timeout_s": 120})
	if got.ExitCode != 0 || got.Stderr != "" || !strings.HasSuffix("\n"+got.Stdout, "\nok\n") || got.Note != "" {
		s.t.Errorf("%+v, want ok, exit code 0 and an empty stderr", got)
	}
}
