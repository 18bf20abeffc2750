package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

func TestOpenTreeRefuses(t *testing.T) {
	sandboxtest.Require(t, "root")
	_, err := OpenTree(Entry{Path: "/no/such/tree", Dir: true})
	var step *StepError
	if !errors.As(err, &step) || step.Step != "open_tree" || step.Path != "/no/such/tree" || !errors.Is(err, unix.ENOENT) {
		t.Errorf("OpenTree = %v, want open_tree /no/such/tree: no such file or directory", err)
	}
}

// Nothing of the mounts is changed before every tree is at hand.
func TestEnterRootNeedsEveryTree(t *testing.T) {
	before, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	err = enterRoot(InitSpec{Root: []Entry{{Path: "/no/such/tree", Dir: true}}})
	var step *StepError
	if !errors.As(err, &step) || step.Step != "open_tree" { // as an ordinary user: not permitted
		t.Errorf("enterRoot = %v, want open_tree refused", err)
	}
	after, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || string(after) != string(before) {
		t.Errorf("the mounts of this process have changed, %v", err)
	}
}

// What is opened can be read and not written to, whatever the directory itself allows.
func TestOpenTreeIsReadOnly(t *testing.T) {
	sandboxtest.Require(t, "root")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	fd, err := OpenTree(Entry{Path: dir, Dir: true})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	through := fmt.Sprintf("/proc/self/fd/%d/file", fd)
	if text, err := os.ReadFile(through); err != nil || string(text) != "x" {
		t.Errorf("read = %q, %v", text, err)
	}
	for _, path := range []string{through, through + "2"} {
		if err := os.WriteFile(path, []byte("y"), 0o666); !errors.Is(err, unix.EROFS) {
			t.Errorf("write to %s: %v, want EROFS", filepath.Base(path), err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("z"), 0o666); err != nil {
		t.Errorf("the directory itself has become read-only: %v", err)
	}
}

// A device can be used through its own entry, and through a directory's it can't.
func TestOpenTreeOfDevices(t *testing.T) {
	sandboxtest.Require(t, "root")
	null, err := OpenTree(Entry{Path: "/dev/null"})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(null)
	if err := os.WriteFile(fmt.Sprintf("/proc/self/fd/%d", null), []byte("x"), 0); err != nil {
		t.Errorf("write to /dev/null: %v", err)
	}
	dev, err := OpenTree(Entry{Path: "/dev", Dir: true})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dev)
	if err := os.WriteFile(fmt.Sprintf("/proc/self/fd/%d/null", dev), []byte("x"), 0); !errors.Is(err, unix.EACCES) {
		t.Errorf("write to a device in a directory: %v, want EACCES", err)
	}
}

// Parent and init agree on the numbers: links take none.
func TestTreesThatWereHandedOver(t *testing.T) {
	root := []Entry{{Path: "/usr", Dir: true}, {Path: "/lib", Link: "/usr/lib"}, {Path: "/etc/mime.types"}, {Path: "/dev/null"}}
	got, err := InitSpec{Root: root, Posture: Posture{OpenTrees: true}}.trees()
	want := map[string]int{"/usr": TreeFD, "/etc/mime.types": TreeFD + 1, "/dev/null": TreeFD + 2}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("trees: %v (-want +got):\n%s", err, diff)
	}
}
