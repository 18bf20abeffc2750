package pool

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

// uncontrolled are attempts that root outside the sandbox can't be shown to
// succeed with, and why.
var uncontrolled = map[string]string{
	"make a socket of AF_ALG":       "not in every kernel",
	"make a socket of AF_VSOCK":     "not in every kernel",
	"io_uring_setup":                "not in every kernel",
	"bpf":                           "not in every kernel",
	"userfaultfd":                   "not in every kernel",
	"perf_event_open":               "not in every kernel",
	"mq_open":                       "not in every kernel",
	"keyctl: the session's keyring": "not in every kernel",
	"kcmp with the server":          "not in every kernel",
	"kcmp with the parent":          "not in every kernel",
	"x32 getpid":                    "not in every kernel",
	"unknown":                       "in no kernel",
	"name_to_handle_at":             "not on every file system",
	"prctl: raise an ambient one":   "only what is inheritable too",
	"have further groups":           "root may have none",

	"find a file of others in /dev/shm":         "there may be none",
	"find an interface besides lo":              "there may be none",
	"connect 192.0.2.1":                         "needs a network",
	"sendto 192.0.2.1":                          "needs a network",
	"connect 2001:db8::1":                       "needs a network",
	"sendto 2001:db8::1":                        "needs a network",
	"have another parent than this slot's init": "the shell is the init here",
	"end this slot's init":                      "no first process of a pid namespace can be ended from inside",
}

// Outside the sandbox nothing is refused: an attempt that would be is no proof.
func TestSelfTestControl(t *testing.T) {
	sandboxtest.Require(t, "root")
	tried := map[string]bool{}
	for _, f := range []facts{
		{Posture: "landlock", Bounding: true, ReadList: true, Environment: []string{}},
		{Posture: "namespaces", Bounding: true, ReadList: true, Namespaces: true, Environment: []string{}},
	} {
		attempts := runControl(t, f)
		if err := unproven(f, attempts); err != nil {
			t.Errorf("%s: %v", f.Posture, err)
		}
		for _, a := range attempts {
			tried[a.Attempt] = true
			if a.OK && uncontrolled[a.Attempt] == "" {
				t.Errorf("%s: %s: %s: refused outside the sandbox too: %s", f.Posture, a.Protection, a.Attempt, a.Detail)
			}
		}
	}
	for name := range uncontrolled {
		if !tried[name] {
			t.Errorf("%q is not attempted", name)
		}
	}
}

// runControl runs the self-test as root, in namespaces of its own. The server is
// a victim there.
func runControl(t *testing.T, f facts) []Attempt {
	t.Helper()
	python := os.Getenv("MCP_EXEC_PYTHON")
	if python == "" {
		python = "python3"
	}
	f.Server, f.Processes, f.FileBytes, f.OpenFiles = 4711, 64, 1, 1 // the pid is to be replaced
	stdin, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	const shell = `mount -t proc proc /proc; sleep 600 </dev/null >/dev/null 2>&1 & ` +
		`touch other; exec 9</dev/null; sed s/4711/$!/ | "$0" -c "$1"`
	cmd := exec.Command("sh", "-ec", shell, python, selfTestCode)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"SECRET=x", "TMPDIR=" + cmd.Dir, "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Unshareflags: syscall.CLONE_NEWNS, // as a clone flag it would not make the mounts private
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("control: %v\n%s%s", err, out, stderr.String())
	}
	attempts, err := parseAttempts(string(out))
	if err != nil {
		t.Fatal(err)
	}
	return attempts
}
