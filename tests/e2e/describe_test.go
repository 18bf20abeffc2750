//go:build linux

package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

type module struct{ Name, Version string }

// installed asks a program, by importlib.metadata and by importing, what of the
// six libraries there is.
func installed(t *testing.T, s *server) (modules []module) {
	t.Helper()
	got := s.in(t).run(`
import importlib, importlib.metadata, json
found = []
for name, package in [("numpy", "numpy"), ("pandas", "pandas"), ("matplotlib", "matplotlib"),
                      ("Pillow", "PIL"), ("PyYAML", "yaml"), ("Jinja2", "jinja2")]:
    try:
        importlib.import_module(package)
        found.append({"Name": name, "Version": importlib.metadata.version(name)})
    except ImportError:
        pass
print(json.dumps(found))
`)
	if err := json.Unmarshal([]byte(got.Stdout), &modules); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	if got.Stderr != "" {
		t.Errorf("importing the libraries prints %q on stderr", got.Stderr)
	}
	return modules
}

func describe(t *testing.T, s *server) string {
	t.Helper()
	list, err := s.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 1 || list.Tools[0].Name != "exec" {
		t.Fatalf("tools %+v, want exec alone", list.Tools)
	}
	return list.Tools[0].Description
}

// TestDescription holds what the tool says of itself to what programs find.
func TestDescription(t *testing.T) {
	t.Parallel()
	s := start(t)
	text := describe(t, s)
	python := s.run("import platform; print(platform.python_version())")
	if want := "Python " + strings.TrimSpace(python.Stdout) + " "; !strings.Contains(text, want) {
		t.Errorf("%q does not say %q", text, want)
	}
	modules := installed(t, s)
	if len(modules) != 6 {
		t.Errorf("a program finds %v, want six libraries", modules)
	}
	var list strings.Builder
	for _, m := range modules {
		list.WriteString(", " + m.Name + " " + m.Version)
	}
	says := regexp.MustCompile(`the standard library(.*?)\. No network`).FindStringSubmatch(text)
	if says == nil || !sameWords(says[1], list.String()) {
		t.Errorf("the description lists %q, a program finds %q", says, list.String())
	}
	if len(text) > 2048 {
		t.Errorf("%d bytes: clients cut at 2 KB", len(text))
	}
}

func sameWords(a, b string) bool {
	count := map[string]int{}
	for _, w := range strings.Split(a, ", ") {
		count[w]++
	}
	for _, w := range strings.Split(b, ", ") {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestDescribedLimits: the limits that are set are those that are told.
func TestDescribedLimits(t *testing.T) {
	t.Parallel()
	s := start(t, "MCP_EXEC_DEFAULT_TIMEOUT_S=11", "MCP_EXEC_MAX_TIMEOUT_S=22", "MCP_EXEC_MAX_OUTPUT_BYTES=3072",
		"MCP_EXEC_MEMORY_BYTES=69206016", "MCP_EXEC_MAX_PIDS=33", "MCP_EXEC_WORKSPACE_BYTES=8388608",
		"MCP_EXEC_MAX_CODE_BYTES=4096", "MCP_EXEC_MAX_STDIN_BYTES=5000")
	text := describe(t, s)
	for _, part := range []string{"11 s wall clock (timeout_s: up to 22)", "66 MiB memory", "33 processes", "8 MiB of files", "3 KiB of output"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
	list, err := s.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, _ := json.Marshal(list.Tools[0].InputSchema)
	for _, part := range []string{"4 KiB", "default 11, at most 22", "5000 bytes"} {
		if !strings.Contains(string(schema), part) {
			t.Errorf("%s does not say %q", schema, part)
		}
	}
}
