package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	width     = 96 // columns
	codeLines = 24 // of a program that are shown
	descLines = 12 // of the tool's description
)

// page lays out what the demo shows.
type page struct {
	w      io.Writer
	colour bool
}

// newPage uses colour on a terminal only. See https://no-color.org.
func newPage(w io.Writer) *page {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return &page{w: w}
	}
	info, err := f.Stat()
	return &page{w: w, colour: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// Styles of ECMA-48.
const (
	bold  = "1"
	faint = "2"
	red   = "31"
	green = "32"
)

func (p *page) paint(style, s string) string {
	if !p.colour || s == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

func (p *page) opening(path string) {
	fmt.Fprintln(p.w, p.paint(bold, "mcp-exec: an MCP server whose one tool runs hostile Python in a sandbox"))
	fmt.Fprintf(p.w, "\n  starting  %s over stdio\n", path)
}

func (p *page) server(s *server, tool *mcp.Tool, w warmth) {
	if init := s.InitializeResult(); init != nil && init.ServerInfo != nil {
		fmt.Fprintf(p.w, "  server    %s %s, protocol %s\n", init.ServerInfo.Name, init.ServerInfo.Version, init.ProtocolVersion)
	}
	fmt.Fprintf(p.w, "  tool      %s\n", p.paint(bold, signature(tool)))
	for _, line := range firstLines(wrap(tool.Description, width-12), descLines) {
		fmt.Fprintf(p.w, "            %s\n", line)
	}
	libraries := "this Python has no numpy, pandas or matplotlib"
	if w.libraries > 0 {
		libraries = "first call with numpy, pandas and matplotlib " + millis(w.libraries)
	}
	fmt.Fprintf(p.w, "  once      ready after %s; first call %s; %s\n", millis(s.startup), millis(w.first), libraries)
	fmt.Fprintf(p.w, "  from now  every program below is a fresh sandbox; its time is the whole call, as a client sees it\n")
}

func (p *page) program(n int, prog program, r result, took time.Duration) {
	head := fmt.Sprintf("%d  %s", n, prog.title)
	gap := max(1, width-utf8.RuneCountInString(head)-len(millis(took)))
	fmt.Fprintf(p.w, "\n%s%s%s\n", p.paint(bold, head), strings.Repeat(" ", gap), p.paint(bold, millis(took)))
	for _, line := range firstLines(body(read(prog.file)), codeLines) {
		fmt.Fprintf(p.w, "   %s\n", p.paint(faint, strings.TrimRight("| "+line, " ")))
	}
	if prog.stdin != "" {
		p.stream("stdin", faint, read(prog.stdin))
	}
	p.stream("stdout", "", r.Stdout)
	p.stream("stderr", red, r.Stderr)
	p.ending(prog, r)
}

// stream prints each line, the first with the stream's name.
func (p *page) stream(name, style, s string) {
	if s == "" {
		return
	}
	for _, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		fmt.Fprintf(p.w, "   %-7s %s\n", name, p.paint(style, line))
		name = ""
	}
}

func (p *page) ending(prog program, r result) {
	how := fmt.Sprintf("exit %d", r.ExitCode)
	if r.TimedOut {
		how = fmt.Sprintf("timed out after %d ms", r.DurationMS)
	}
	if r.Note != "" {
		how += ", note " + r.Note
	}
	if err := prog.want.check(r); err != nil {
		fmt.Fprintf(p.w, "   %-7s %s\n", "ended", p.paint(red, how+"  NOT AS EXPECTED"))
		return
	}
	fmt.Fprintf(p.w, "   %-7s %s\n", "ended", p.paint(green, how))
}

// closing is the summary, and the lines to paste.
func (p *page) closing(path, python string, sum summary) {
	fmt.Fprintf(p.w, "\n%s\n", p.paint(bold, fmt.Sprintf("%d programs, all as expected: a call in %s, %d attempts to break out, all refused",
		len(programs), millis(sum.fastest), sum.refused)))
	line := "claude mcp add exec-sandbox -e MCP_EXEC_TRANSPORT=stdio"
	fmt.Fprintf(p.w, "\nTo use it in Claude Code, in a container, which `make image` builds:\n\n  %s\n",
		p.paint(bold, line+" -- docker run -i --rm mcp-exec:dev"))
	if python != "" {
		line += " -e " + quote("MCP_EXEC_PYTHON="+python)
	}
	fmt.Fprintf(p.w, "\nOr this server, without a container:\n\n  %s\n",
		p.paint(bold, line+" -- "+quote(path)))
}

// signature is the tool as a function, required fields first.
func signature(tool *mcp.Tool) string {
	var schema struct {
		Properties map[string]struct{ Type string }
		Required   []string
	}
	b, err := json.Marshal(tool.InputSchema)
	if err == nil {
		err = json.Unmarshal(b, &schema)
	}
	if err != nil {
		return tool.Name
	}
	var required, optional []string
	for _, name := range schema.Required {
		required = append(required, name+": "+schema.Properties[name].Type)
		delete(schema.Properties, name)
	}
	for name, field := range schema.Properties {
		optional = append(optional, name+"?: "+field.Type)
	}
	sort.Strings(optional)
	return tool.Name + "(" + strings.Join(append(required, optional...), ", ") + ")"
}

// body is a program without the comment at its top, which the title repeats, and
// with single blank lines.
func body(code string) []string {
	code = strings.ReplaceAll(code, "\n\n\n", "\n\n")
	lines := strings.Split(strings.TrimRight(code, "\n"), "\n")
	for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
		lines = lines[1:]
	}
	return lines
}

func firstLines(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n-1:n-1], fmt.Sprintf("... %d more lines", len(lines)-n+1))
}

// wrap breaks each line of s between words.
func wrap(s string, columns int) []string {
	var lines []string
	for _, long := range strings.Split(s, "\n") {
		line := ""
		for _, word := range strings.Fields(long) {
			if line != "" && utf8.RuneCountInString(line+" "+word) > columns {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// millis keeps a tenth where it says something.
func millis(d time.Duration) string {
	ms := float64(d.Microseconds()) / 1000
	if ms < 100 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

// quote makes one word of s for a POSIX shell.
func quote(s string) string {
	unsafe := func(r rune) bool {
		return !strings.ContainsRune("+,-./:=@_%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if s != "" && strings.IndexFunc(s, unsafe) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
