package forkserver

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What lies among the modules is mounted where programs are: all of it is listed, and
// what could be connected to is found.
func TestWhatProgramsCanReach(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "lib")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	i := Interpreter{Dirs: []string{below, "/usr/lib/python3", top}}
	if diff := cmp.Diff([]string{top}, i.Tops()); diff != "" {
		t.Errorf("Tops (-want +got):\n%s", diff)
	}
	if got := i.Sockets(); len(got) > 0 {
		t.Errorf("Sockets = %q, want none", got)
	}
	path := filepath.Join(below, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if diff := cmp.Diff([]string{path}, i.Sockets()); diff != "" {
		t.Errorf("Sockets (-want +got):\n%s", diff)
	}
}

// A prefix that is the home, or above it, would open the home.
func TestHomeIsNoPrefix(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	for dir, wrong := range map[string]bool{home: true, filepath.Dir(home): true, filepath.Join(home, "venv"): false, "/usr": false} {
		i := Interpreter{Executable: "/usr/bin/python3", Version: "3.13.0", Minor: 13, Dirs: []string{dir}}
		if err := i.check(); (err != nil) != wrong {
			t.Errorf("prefix %s: %v", dir, err)
		}
	}
}
