package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

func TestProbeMask(t *testing.T) {
	sandboxtest.Require(t, "landlock>=2")
	if got := Probe(1).LandlockABI; got != 1 {
		t.Errorf("Probe(1) finds ABI %d", got)
	}
}

func TestTmpfsMounts(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/shm", link); err != nil {
		t.Fatal(err)
	}
	if !isTmpfs("/dev/shm") {
		t.Fatal("/dev/shm is no tmpfs here")
	}
	if got := tmpfsMounts(link, "/dev/shm"); !slices.Equal(got, []string{link}) {
		t.Errorf("two names of one tmpfs = %q, want the first", got)
	}
	if got := tmpfsMounts("/proc", "/no/such"); got != nil {
		t.Errorf("tmpfsMounts(/proc) = %q", got)
	}
	if !mountBelow("/dev") {
		t.Error("no mount found below /dev")
	}
}
