// Package docs holds the pages in this directory and the repository's root to
// the product.
package docs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
	"github.com/mcp-exec/mcp-exec/internal/sandbox/sandboxtest"
)

// image is the name under which the published lines start the container.
const image = "mcp-exec:dev"

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"../*.md", "*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatalf("no pages at %s: %v", pattern, err)
		}
		found = append(found, more...)
	}
	return found
}

// build makes the server that the pages describe.
func build(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mcp-exec")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "../cmd/mcp-exec")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// ---- settings ---------------------------------------------------------------

// setting is one line of the configuration table; the key is the variable.
type setting struct{ flag, value string }

var (
	tableRow = regexp.MustCompile("(?m)^\\| `(MCP_EXEC_[A-Z_]+)` \\| `(--[a-z-]+)` \\| .* \\| `([^`]*)` \\|$")
	anyRow   = regexp.MustCompile("(?m)^\\| `MCP_EXEC_")
	helpFlag = regexp.MustCompile(`(--[a-z-]+)=\S+ [^$]*\(\$(MCP_EXEC_[A-Z_]+)\)`)
	anyVar   = regexp.MustCompile(`\$MCP_EXEC_`)
)

func TestSettings(t *testing.T) {
	out, err := exec.Command(build(t), "serve", "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("serve --help: %v\n%s", err, out)
	}
	defaults := defaultsOf(t, "../cmd/mcp-exec/config.go")
	have := map[string]setting{}
	for _, m := range helpFlag.FindAllStringSubmatch(strings.Join(strings.Fields(string(out)), " "), -1) {
		have[m[2]] = setting{m[1], defaults[m[1]]}
	}
	want := map[string]setting{}
	readme := read(t, "../README.md")
	for _, m := range tableRow.FindAllStringSubmatch(readme, -1) {
		want[m[1]] = setting{m[2], m[3]}
	}
	if rows, vars := len(anyRow.FindAllString(readme, -1)), len(anyVar.FindAllString(string(out), -1)); rows != len(want) || vars != len(have) || vars == 0 {
		t.Errorf("understood %d of %d rows and %d of %d variables", len(want), rows, len(have), vars)
	}
	if diff := cmp.Diff(have, want, cmp.AllowUnexported(setting{})); diff != "" {
		t.Errorf("the table in README.md (+) differs from serve --help (-):\n%s", diff)
	}
}

// defaultsOf reads the tags of the struct from which the flags are made: help
// does not show the defaults.
func defaultsOf(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok || field.Tag == nil {
			return true
		}
		tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
		name := tag.Get("name")
		if name == "" {
			name = kebab(field.Names[0].Name)
		}
		found["--"+name] = tag.Get("default")
		return true
	})
	return found
}

var capital = regexp.MustCompile(`(.)([A-Z])`)

func kebab(s string) string { return strings.ToLower(capital.ReplaceAllString(s, "$1-$2")) }

// ---- blocks and lines ---------------------------------------------------------

var block = regexp.MustCompile("(?ms)^```(json|toml|sh|text)\n(.*?)^```$")

// client is what every client's configuration says, whatever the keys around it.
type client struct {
	Command string
	Args    []string
}

func TestBlocks(t *testing.T) {
	for _, page := range pages(t) {
		text := read(t, page)
		found := block.FindAllStringSubmatch(text, -1)
		if marks := strings.Count("\n"+text, "\n```"); marks != 2*len(found) {
			t.Errorf("%s: %d code fences, want %d: a block is not closed, or its kind is none that is checked", page, marks, 2*len(found))
		}
		for _, m := range found {
			if err := checkBlock(m[1], m[2]); err != nil {
				t.Errorf("%s: %v in block\n%s", page, err, m[2])
			}
		}
	}
}

func checkBlock(kind, text string) error {
	switch kind {
	case "json":
		return checkJSON(text)
	case "toml":
		return checkTOML(text)
	case "sh":
		cmd := exec.Command("bash", "-n")
		cmd.Stdin = strings.NewReader(text)
		return cmd.Run()
	}
	return nil
}

func checkJSON(text string) error {
	var file map[string]map[string]client
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&file); err != nil {
		return err
	}
	for _, key := range []string{"mcpServers", "servers"} {
		if c, ok := file[key]["exec-sandbox"]; ok {
			return c.check()
		}
	}
	return errors.New("no server exec-sandbox")
}

// checkTOML knows what such a block needs: tables, and values that TOML and
// JSON write alike.
func checkTOML(text string) error {
	var c client
	fields := map[string]any{"command": &c.Command, "args": &c.Args, "tool_timeout_sec": new(int)}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		key, value, isPair := strings.Cut(lines.Text(), " = ")
		if lines.Text() == "[mcp_servers.exec-sandbox]" {
			continue
		}
		if !isPair || fields[key] == nil {
			return fmt.Errorf("unknown line %q", lines.Text())
		}
		if err := json.Unmarshal([]byte(value), fields[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return c.check()
}

// check compares with the line that the server itself recommends.
func (c client) check() error {
	if diff := cmp.Diff(sortedWords(c.Command+" "+strings.Join(c.Args, " ")), recommended()); diff != "" {
		return fmt.Errorf("not the recommended line: %s", diff)
	}
	return nil
}

func recommended() []string {
	_, line, _ := strings.Cut(sandbox.DockerLine, ": ")
	return sortedWords(strings.Replace(line, "IMAGE", image, 1))
}

func sortedWords(s string) []string { return slices.Sorted(slices.Values(strings.Fields(s))) }

func TestPublishedLines(t *testing.T) {
	readme := strings.ReplaceAll(read(t, "../README.md"), "\\\n", "")
	line := regexp.MustCompile(`(?m)^docker run .*$`).FindString(readme)
	if diff := cmp.Diff(sortedWords(line), recommended()); diff != "" {
		t.Errorf("the docker line of README.md (-) is not the server's (+):\n%s", diff)
	}
	for _, want := range []string{
		"claude mcp add exec-sandbox -e MCP_EXEC_TRANSPORT=stdio -- docker run -i --rm " + image,
		"go build -o mcp-exec ./cmd/mcp-exec && MCP_EXEC_TRANSPORT=stdio ./mcp-exec",
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md lacks the published line %q", want)
		}
	}
}

// ---- references ---------------------------------------------------------------

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	target  = regexp.MustCompile(`(?m)^([a-z]+):`)
	madeBy  = regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)")
)

func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.HasPrefix(m[1], "https://") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			file := page
			if path != "" {
				file = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: link to %s: no such file", page, m[1])
			} else if anchor != "" && !anchors(read(t, file))[anchor] {
				t.Errorf("%s: link to %s: no such heading", page, m[1])
			}
		}
	}
}

// anchors are the names that GitHub gives headings.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		keep := func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
				return r
			}
			return -1
		}
		found[strings.Map(keep, strings.ToLower(m[1]))] = true
	}
	return found
}

func TestMakeTargets(t *testing.T) {
	have := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(read(t, "../Makefile"), -1) {
		have[m[1]] = true
	}
	for _, page := range pages(t) {
		for _, m := range madeBy.FindAllStringSubmatch(read(t, page), -1) {
			if !have[m[1]] {
				t.Errorf("%s: make %s: no such target", page, m[1])
			}
		}
	}
}

func TestDependencies(t *testing.T) {
	direct := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(read(t, "../go.mod"), -1)
	if len(direct) == 0 {
		t.Fatal("go.mod: no direct dependency found")
	}
	want := map[string]bool{}
	for _, m := range direct {
		want[m[1]] = true
	}
	have := map[string]bool{}
	rows := regexp.MustCompile("(?m)^\\| `([a-z0-9.]+\\.[a-z]+/\\S+)` \\|")
	for _, m := range rows.FindAllStringSubmatch(read(t, "architecture.md"), -1) {
		have[m[1]] = true
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("direct dependencies of go.mod (-) and of architecture.md (+):\n%s", diff)
	}
}

// ---- the numbers in README.md ---------------------------------------------------

// BenchmarkCall runs a program by a cold python3 and by a call, in turns: a
// shared machine is as slow for the one as for the other.
func BenchmarkCall(b *testing.B) {
	sandboxtest.Require(b, "root", "landlock>=1", "python")
	c := connect(b, build(b))
	for name, code := range map[string]string{
		"print(1)": "print(1)",
		"imports":  "import numpy, pandas, matplotlib.pyplot",
	} {
		b.Run(name, func(b *testing.B) {
			c.run(b, code) // loads the libraries, once
			var cold, call []time.Duration
			for b.Loop() {
				cold = append(cold, timed(func() { coldRun(b, code) }))
				call = append(call, timed(func() { c.run(b, code) }))
			}
			was, is := median(cold), median(call)
			b.ReportMetric(was.Seconds()*1000, "cold-ms")
			b.ReportMetric(is.Seconds()*1000, "call-ms")
			b.ReportMetric(was.Seconds()/is.Seconds(), "times-faster")
		})
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(d []time.Duration) time.Duration { return slices.Sorted(slices.Values(d))[len(d)/2] }

func coldRun(b *testing.B, code string) {
	b.Helper()
	cmd := exec.Command(os.Getenv("MCP_EXEC_PYTHON"), "-c", code)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("python3: %v\n%s", err, out)
	}
}

// conversation is as little MCP as a call needs.
type conversation struct {
	to   *json.Encoder
	from *json.Decoder
	id   int
}

func connect(b *testing.B, server string) *conversation {
	b.Helper()
	cmd := exec.Command(server)
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	c := &conversation{to: json.NewEncoder(in), from: json.NewDecoder(out)}
	c.ask(b, "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "benchmark", "version": "1"}})
	return c
}

func (c *conversation) ask(b *testing.B, method string, params map[string]any) map[string]any {
	b.Helper()
	c.id++
	var reply struct{ Result map[string]any }
	err := c.to.Encode(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err = errors.Join(err, c.from.Decode(&reply)); err != nil || reply.Result == nil {
		b.Fatalf("%s: %v, result %v", method, err, reply.Result)
	}
	return reply.Result
}

func (c *conversation) run(b *testing.B, code string) {
	b.Helper()
	result := c.ask(b, "tools/call", map[string]any{"name": "exec", "arguments": map[string]any{"code": code}})
	if out, ok := result["structuredContent"].(map[string]any); !ok || out["exit_code"] != 0.0 {
		b.Fatalf("exec %q: %v", code, result)
	}
}
