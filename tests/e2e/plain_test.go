//go:build linux

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// program is something to run both in the sandbox and by plain CPython.
type program struct {
	name  string
	code  string
	stdin string
	exit  int
	says  []string // parts of what plain CPython prints: else the comparison would prove little
}

// lineBuffered makes plain CPython's stdout what a terminal, and the sandbox,
// have: without it the order of a program's and its children's output differs.
const lineBuffered = "import sys\nsys.stdout.reconfigure(line_buffering=True)\n"

// plain runs `python3 main.py`: natively outside of any sandbox, in a container,
// whose interpreter is not here, as a program that becomes a cold interpreter.
func (s *server) plain(p program) result {
	s.t.Helper()
	if inContainer() {
		return s.call(args{"code": becomeCold(p.code), "stdin": p.stdin})
	}
	dir := s.t.TempDir()
	site := filepath.Join(dir, "site")
	work := filepath.Join(dir, "work")
	for path, text := range map[string]string{
		filepath.Join(site, "sitecustomize.py"): lineBuffered, filepath.Join(work, "main.py"): p.code,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv("MCP_EXEC_PYTHON"), "main.py")
	cmd.Dir, cmd.Stdin = work, strings.NewReader(p.stdin)
	cmd.Env = append(sandbox.WorkerEnv(work), "PYTHONPATH="+site)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var status *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &status) {
		s.t.Fatalf("plain CPython: %v", err)
	}
	return result{Stdout: stdout.String(), Stderr: stderr.String(), ExitCode: shellStatus(cmd.ProcessState)}
}

func shellStatus(p *os.ProcessState) int {
	w := p.Sys().(syscall.WaitStatus)
	if w.Signaled() {
		return 128 + int(w.Signal())
	}
	return w.ExitStatus()
}

func becomeCold(code string) string {
	return fmt.Sprintf(`
import os, sys
os.mkdir("site")
os.mkdir("work")
with open("site/sitecustomize.py", "w") as file:
    file.write(%s)
with open("work/main.py", "wb") as file:
    file.write(%s.encode())
os.environ["PYTHONPATH"] = os.path.abspath("site")
os.environ["HOME"] = os.environ["TMPDIR"] = os.path.abspath("work")
os.chdir("work")
os.execv(sys.executable, [sys.executable, "main.py"])
`, strconv.QuoteToASCII(lineBuffered), pythonString(code))
}

// pythonString is a Go string as a Python literal.
func pythonString(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\U%08x`, r)
	}
	return `"` + b.String() + `"`
}

// What differs between two runs of the same program, in CPython as well.
var (
	runDirectory = regexp.MustCompile(`/[^\s'"<>:]*/(?:[0-9a-f]{32}(?:/work)?|work|Test[^\s'"<>:]*/work)\b`)
	address      = regexp.MustCompile(`0x[0-9a-f]+`)
	// The program is called by frames of ours, so a little less of the recursion limit is left.
	depth = regexp.MustCompile(`repeated \d+ more times`)
)

func normal(text string) string {
	text = runDirectory.ReplaceAllString(text, "DIR")
	text = address.ReplaceAllString(text, "0xADDR")
	return depth.ReplaceAllString(text, "repeated N more times")
}

// compare runs a program both ways; stdout, stderr and exit status must agree.
func (s *server) compare(p program) {
	s.t.Helper()
	want := s.plain(p)
	if want.ExitCode != p.exit {
		s.t.Errorf("control: plain CPython ended with %d, want %d\n%s%s", want.ExitCode, p.exit, want.Stdout, want.Stderr)
	}
	for _, part := range p.says {
		if !strings.Contains(want.Stdout+want.Stderr, part) {
			s.t.Errorf("control: plain CPython did not print %q:\n%s%s", part, want.Stdout, want.Stderr)
		}
	}
	got := s.call(args{"code": p.code, "stdin": p.stdin})
	if got.ExitCode != want.ExitCode {
		s.t.Errorf("exit_code %d, CPython %d (note %q)", got.ExitCode, want.ExitCode, got.Note)
	}
	if got, want := normal(got.Stdout), normal(want.Stdout); got != want {
		s.t.Errorf("stdout\n%s\nCPython\n%s", got, want)
	}
	if got, want := normal(got.Stderr), normal(want.Stderr); got != want {
		s.t.Errorf("stderr\n%s\nCPython\n%s", got, want)
	}
	if got.TimedOut || got.Truncated {
		s.t.Errorf("timed out or cut: %+v", got)
	}
}

// TestPlainPython runs everything under testdata/python as CPython does. A file
// says in its first lines what plain CPython must do:
//
//	# exit: 3
//	# says: a part of its output
func TestPlainPython(t *testing.T) {
	t.Parallel()
	s := start(t)
	files, err := filepath.Glob("testdata/python/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		p := readProgram(t, file)
		t.Run(p.name, func(t *testing.T) { s.in(t).compare(p) })
	}
}

func readProgram(t *testing.T, file string) program {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := program{name: strings.TrimSuffix(filepath.Base(file), ".py"), code: string(data)}
	for line := range strings.Lines(p.code) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case ok && key == "# exit":
			if p.exit, err = strconv.Atoi(value); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		case ok && key == "# says":
			p.says = append(p.says, value)
		default:
			if len(p.says) == 0 {
				t.Fatalf("%s: without a says line the comparison proves little", file)
			}
			return p
		}
	}
	return p
}
