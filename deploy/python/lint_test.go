//go:build linux

package setup_test

import (
	"os"
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	f := newFixture(t)
	script, err := os.ReadFile("lint.py")
	if err != nil {
		t.Fatal(err)
	}
	lint := f.write("lint.py", string(script), 0o644)
	tests := []struct{ name, source, want string }{
		{"clean", "import os\n\n\ndef f(x):\n    return [os.sep + y for y in x]\n", ""},
		{"global set in a function", "def f():\n    global n\n    n = 1\n\n\nprint(n)\n", ""},
		{"syntax error", "def f(:\n", "line 1: invalid syntax"},
		{"warning", "x = '\\d'\n", "line 1: "},
		{"name in a function", "def f():\n    return naem\n", "naem is not defined"},
		{"name of a class's own", "class C:\n    n = 1\n\n    def f(self):\n        return n\n", "n is not defined"},
		{"import", "import os as system\n", "system is imported and not used"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := f.write("source.py", tt.source, 0o644)
			out, err := f.command(f.base(), lint, file).CombinedOutput()
			if failed, want := err != nil, tt.want != ""; failed != want {
				t.Errorf("lint.py failed: %t, want %t (%v)", failed, want, err)
			}
			if got := string(out); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("lint.py printed %q, want %q", got, tt.want)
			}
		})
	}
}
