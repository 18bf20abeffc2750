//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

// Values that the server has in its environment and no program may ever see.
const (
	tokenCanary = "canary-5ec2e75ec2e75ec2e75ec2e75ec2e75ec"
	otherCanary = "canary-0bad0bad0bad0bad0bad0bad0bad0bad0"
)

var canaries = []string{"MCP_EXEC_AUTH_TOKEN=" + tokenCanary, "CANARY_API_KEY=" + otherCanary}

// setting is what an attack is told, on its standard input.
type setting struct {
	Control bool  `json:"control"`
	PIDs    []int `json:"pids"`   // the server, its threads and its children, where the test sees them
	Spares  bool  `json:"spares"` // waiting workers are out of reach too
	targets
}

// outcome is one line that an attack printed.
type outcome struct{ result, attempt, detail string }

func (o outcome) name() string {
	name, _, _ := strings.Cut(o.attempt, " (no control: ")
	return name
}

// attacks are the files of testdata/escape. Each says in its header what it tries.
func attacks(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/escape/*.py")
	if err != nil || len(paths) < 2 {
		t.Fatalf("attacks: %v, %v", paths, err)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return filepath.Base(path) == "prelude.py" })
}

// source is the attack with what all of them share.
func source(t testing.TB, path string) string {
	t.Helper()
	var all []byte
	for _, p := range []string{"testdata/escape/prelude.py", path} {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return string(all)
}

func TestEscape(t *testing.T) {
	s := start(t, canaries...)
	for _, path := range attacks(t) {
		t.Run(attackName(path), func(t *testing.T) {
			tried := testAttack(t, s.in(t), path)
			t.Run("control", func(t *testing.T) { testControl(t, path, tried) })
		})
	}
	s.unharmed(t)
}

func attackName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".py") }

// testAttack expects that every attempt is refused but those that the attack's
// header excepts here, and returns their names. Where the signals of programs have
// no bounds a program can kill workers that wait under its own uid; they are replaced.
func testAttack(t *testing.T, s *server, path string) map[string]bool {
	world, here := newWorld(t, false), s.place(t)
	unbounded := here.posture == "container" || here.is(t, "landlock abi<6")
	code := source(t, path)
	res := s.call(args{"code": code, "stdin": encode(t, setting{PIDs: s.processes(t), Spares: !unbounded, targets: world.targets}), "timeout_s": 60})
	checkFinished(t, res)
	outcomes := parse(t, res.Stdout)
	compareOutcomes(t, expectations(t, here, code), outcomes)
	tried := map[string]bool{}
	for _, o := range outcomes {
		tried[o.name()] = true
	}
	for _, canary := range []string{tokenCanary, otherCanary} {
		if strings.Contains(res.Stdout+res.Stderr, canary) {
			t.Errorf("the program printed %s", canary)
		}
	}
	if n := world.visitors(); n > 0 {
		t.Errorf("listeners outside were reached %d times", n)
	}
	s.answers(t)
	return tried
}

// checkFinished fails an attack that did not come to its end: what it would have
// tried next is not shown to be refused.
func checkFinished(t *testing.T, res result) {
	t.Helper()
	if res.ExitCode != 0 || res.Stderr != "" || res.Truncated || res.Note != "" {
		t.Fatalf("exit %d, note %q, truncated %t, stderr:\n%s", res.ExitCode, res.Note, res.Truncated, res.Stderr)
	}
}

// testControl shows that an attack works where nothing stops it: there every
// attempt succeeds, and they are those of the sandbox.
func testControl(t *testing.T, path string, tried map[string]bool) {
	sandboxtest.Require(t, "root")
	world := newWorld(t, true)
	code := source(t, path)
	found := parse(t, runControl(t, code, setting{Control: true, PIDs: []int{}, Spares: true, targets: world.targets}))
	for _, o := range found {
		if o.result != "ALLOWED" {
			t.Errorf("%s: %s %s", o.attempt, o.result, o.detail)
		}
		if !tried[o.name()] {
			t.Errorf("%s: not tried in the sandbox", o.attempt)
		}
	}
	if strings.Contains(code, "SETTING[\"tcp\"]") && world.visitors() == 0 {
		t.Error("no listener was reached")
	}
}

// runControl runs it with plain python, in a directory and in mount, host name
// and ipc namespaces of its own.
func runControl(t *testing.T, code string, s setting) string {
	t.Helper()
	python := os.Getenv("MCP_EXEC_PYTHON")
	if python == "" {
		python = "python3"
	}
	cmd := exec.Command(python, "-c", code)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"SECRET=" + tokenCanary, "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(encode(t, s))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true,
		Unshareflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("control: %v\n%s%s", err, out, stderr.String())
	}
	return string(out)
}

func encode(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

// parse splits what an attack printed; nothing printed proves nothing.
func parse(t testing.TB, text string) []outcome {
	t.Helper()
	var found []outcome
	for line := range strings.Lines(text) {
		columns := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(columns) != 3 {
			t.Fatalf("line %q: want three columns", line)
		}
		found = append(found, outcome{columns[0], columns[1], columns[2]})
	}
	if len(found) == 0 {
		t.Fatal("the attack printed nothing")
	}
	return found
}
