package forkserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

const oldestMinor = 10 // Python 3.10: what the fork server is written for

// Interpreter is what the configured python says of itself.
type Interpreter struct {
	Executable string    // absolute; a shim is resolved
	Version    string    // "3.13.5"
	Minor      int       // 13
	Dirs       []string  // what it reads from
	Files      []string  // the executable, and what its links lead to
	Packages   []Package // the declared six
	FontList   string    // matplotlib's prebuilt font list, or empty
}

// Package is a declared package: its distribution ("Pillow"), the name to import
// ("PIL") and the version, empty where it is not installed.
type Package struct{ Name, Import, Version string }

// Installed are the packages that a program can import.
func (i Interpreter) Installed() []sandbox.Module {
	var found []sandbox.Module
	for _, p := range i.Packages {
		if p.Version != "" {
			found = append(found, sandbox.Module{Name: p.Name, Version: p.Version})
		}
	}
	return found
}

// Missing names the others.
func (i Interpreter) Missing() []string {
	var missing []string
	for _, p := range i.Packages {
		if p.Version == "" {
			missing = append(missing, p.Name)
		}
	}
	return missing
}

// Importable leaves out the modules of packages that are not installed.
func (i Interpreter) Importable(modules []string) []string {
	return slices.DeleteFunc(slices.Clone(modules), func(module string) bool {
		top, _, _ := strings.Cut(module, ".")
		return slices.ContainsFunc(i.Packages, func(p Package) bool { return p.Import == top && p.Version == "" })
	})
}

// Unreachable is the first path that only its owner can read, or empty: a
// program with an uid of its own could not import from there. What is mounted by
// itself may lie below a private directory.
func (i Interpreter) Unreachable(mounted bool) string {
	for _, path := range slices.Concat(i.Files, i.Dirs) {
		for top := path; path != "/" && (!mounted || path == top); path = filepath.Dir(path) {
			if info, err := os.Stat(path); err == nil && info.Mode()&0o005 != 0o005 && (info.IsDir() || info.Mode()&0o001 == 0) {
				return path
			}
		}
	}
	return ""
}

// FontCache is the directory of the font list, or empty.
func (i Interpreter) FontCache() string {
	if i.FontList == "" {
		return ""
	}
	return filepath.Dir(i.FontList)
}

// Inspect asks the interpreter once, in a clean environment (PATH is kept, for
// shims). The command is used exactly as given; an error says what it printed.
func Inspect(ctx context.Context, command string) (Interpreter, error) {
	code, err := sources.ReadFile("python/inspect_interpreter.py")
	if err != nil {
		return Interpreter{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	found, err := exec.LookPath(command)
	if err != nil {
		return Interpreter{}, fmt.Errorf("python %q: %w", command, err)
	}
	if found, err = filepath.Abs(found); err != nil {
		return Interpreter{}, fmt.Errorf("python %q: %w", command, err)
	}
	cmd := exec.CommandContext(ctx, found, "-c", string(code))
	cmd.Env = append(sandbox.ServerEnv(), "PATH="+os.Getenv("PATH"))
	cmd.Dir = "/"
	// A shim may have started others, which go with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := startChild(cmd); err != nil {
		return Interpreter{}, fmt.Errorf("python %q: %w", command, err)
	}
	if err := waitChild(cmd); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return Interpreter{}, fmt.Errorf("python %q: no answer in time", command)
		}
		return Interpreter{}, fmt.Errorf("python %q: %w: %s", command, err, lastLine(stderr.String()))
	}
	var i Interpreter
	if err := json.Unmarshal(stdout.Bytes(), &i); err != nil {
		return Interpreter{}, fmt.Errorf("python %q does not behave like one: %w", command, err)
	}
	return i, i.check()
}

// check refuses what would open the whole file system or can't be executed.
func (i Interpreter) check() error {
	if slices.Contains(i.Dirs, "/") {
		return errors.New("python: one of its prefixes or module directories is /, which would make every file readable")
	}
	if home := realHome(); home != "" && slices.ContainsFunc(i.Dirs, func(dir string) bool { return within(dir, home) && !within("/usr", dir) }) {
		return fmt.Errorf("python: one of its prefixes or module directories is %s or above it, which would make every file in it readable", home)
	}
	if i.Minor < oldestMinor {
		return fmt.Errorf("python is %s: needs CPython 3.%d or later", i.Version, oldestMinor)
	}
	if !filepath.IsAbs(i.Executable) {
		return fmt.Errorf("python: sys.executable is %q, not an absolute path", i.Executable)
	}
	return nil
}

// realHome is empty where there is none.
func realHome() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	home, _ = filepath.EvalSymlinks(home)
	return home
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// Tops are the directories outside of the system's from which it reads, without those
// below another: a .pth file may have added some.
func (i Interpreter) Tops() []string {
	tops := []string{}
	for _, dir := range slices.Sorted(slices.Values(i.Dirs)) { // what is above comes first
		if !within("/usr", dir) && !slices.ContainsFunc(tops, func(top string) bool { return within(top, dir) }) {
			tops = append(tops, dir)
		}
	}
	return tops
}

// Sockets are the sockets and named pipes in what it reads outside of the system's
// directories: a program could reach who listens there, since a read-only mount does not
// forbid it and Landlock mediates sockets only from ABI 9 on.
func (i Interpreter) Sockets() []string {
	var found []string
	for _, top := range i.Tops() {
		_ = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type()&(fs.ModeSocket|fs.ModeNamedPipe) != 0 {
				found = append(found, path)
			}
			return nil // what we can't read nobody in there can
		})
	}
	return found
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
