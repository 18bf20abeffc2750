package pool

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Write renders a report for people: short lines, aligned, no colour.
func (r *Report) Write(w io.Writer) error {
	t := &page{}
	r.verdict(t)
	r.Host.show(t)
	r.Posture.show(t)
	r.Interpreter.show(t)
	if r.Limits != nil {
		r.Limits.show(t, r.Host)
	}
	showProtections(t, r.Protections)
	for _, role := range r.Roles {
		role.show(t)
	}
	if len(r.Messages) > 0 {
		t.section("Messages")
		for _, m := range r.Messages {
			t.line("  %s", m)
		}
	}
	_, err := io.WriteString(w, t.text.String())
	return err
}

// page is text with sections and aligned pairs.
type page struct{ text strings.Builder }

func (p *page) line(format string, args ...any) {
	p.text.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (p *page) section(title string) { p.line("\n%s", title) }

func (p *page) pair(key, value string) { p.line("  %-12s %s", key, value) }

// fix stands below what it is for.
func (p *page) fix(text string) {
	if text != "" {
		p.pair("", "fix: "+text)
	}
}

func (r *Report) verdict(t *page) {
	if r.Serves {
		t.line("mcp-exec %s may serve: posture %s, %s", r.Version, r.Posture.Name, r.Posture.Level)
		return
	}
	t.line("mcp-exec %s may not serve: %s", r.Version, r.Reason)
	if r.Fix != "" {
		t.line("fix: %s", r.Fix)
	}
}

func (h Host) show(t *page) {
	t.section("Host")
	t.pair("system", h.System+" "+h.Release+", "+h.Architecture)
	t.pair("user", "uid "+strconv.Itoa(h.UID))
	if len(h.MissingCaps) > 0 && h.UID == 0 {
		t.pair("", "without "+strings.Join(h.MissingCaps, ", "))
	}
	t.pair("container", choose(h.Container, "yes", "no: "+h.ContainerErr))
	t.pair("/proc", choose(h.ProcErr == "", "whole", "masked: "+h.ProcErr))
	t.pair("namespaces", choose(h.UserNSErr == "", "no setting forbids them", "forbidden: "+h.UserNSErr))
	t.pair("landlock", choose(h.LandlockABI > 0, "ABI "+strconv.Itoa(h.LandlockABI), "none: "+h.LandlockErr))
	t.pair("tmpfs", choose(len(h.Writable) > 0, strings.Join(h.Writable, ", "), "neither /tmp nor /dev/shm can be used"))
	t.pair("memory", choose(h.MemoryLimit > 0, "limit "+bytesText(h.MemoryLimit), "no limit"))
	t.pair("processes", choose(h.PidsLimit > 0, "limit "+strconv.FormatInt(h.PidsLimit, 10), "no limit"))
}

func choose(yes bool, one, other string) string {
	if yes {
		return one
	}
	return other
}

func (p PostureInfo) show(t *page) {
	t.section("Posture")
	t.pair("asked for", p.Asked)
	for _, tried := range p.Tried {
		t.pair(tried.Posture, "not here: "+tried.Reason)
		t.fix(tried.Fix)
	}
	t.pair("chosen", choose(p.Name != "", p.Name+", "+p.Level, "none"))
}

func (i Interpreter) show(t *page) {
	t.section("Python")
	t.pair("command", i.Command)
	if i.Executable == "" {
		t.pair("found", "no")
		return
	}
	t.pair("executable", i.Executable)
	t.pair("version", i.Version)
	for _, dir := range i.Reads {
		t.pair("", "programs can read "+dir)
	}
	for _, p := range i.Packages {
		t.pair(p.Name, choose(p.Version != "", p.Version, "missing: programs can't import it"))
	}
	t.fix(i.Fix)
}

func (l LimitsInfo) show(t *page, h Host) {
	t.section("Limits of one run")
	t.pair("memory", bytesText(l.MemoryBytes)+choose(l.MemoryBytes < l.MemorySetting, " of "+bytesText(l.MemorySetting)+" asked for", ""))
	if h.MemoryLimit > 0 {
		t.pair("", fmt.Sprintf("the container's %s, less %s in use, %s in reserve, %s for the data libraries",
			bytesText(h.MemoryLimit), bytesText(l.MemoryIdle), bytesText(l.MemoryReserve), bytesText(l.DataBytes)))
	}
	t.pair("libraries", choose(l.DataPreloaded, "preloaded at the first use", "not preloaded: too little memory, or none installed"))
	t.pair("processes", strconv.Itoa(l.Processes)+choose(l.Processes < l.ProcessSetting, fmt.Sprintf(" of %d asked for", l.ProcessSetting), ""))
	t.pair("files", bytesText(l.WorkspaceBytes))
	t.pair("output", bytesText(int64(l.OutputBytes)))
}

func showProtections(t *page, all []Protection) {
	if len(all) == 0 {
		return
	}
	t.section("Protections, each proven by attempts in a live worker")
	for _, p := range all {
		t.line("  %-9s %s", p.Status, p.Name)
		if p.Reason != "" {
			t.line("%12s%s", "", p.Reason)
		}
		if p.Fix != "" {
			t.line("%12sfix: %s", "", p.Fix)
		}
		for _, a := range p.Attempts {
			t.line("%12s%-50s %s%s", "", a.Attempt, choose(a.OK, "", "FAILED: "), a.Detail)
		}
	}
}

func (r Role) show(t *page) {
	t.section("Steps of each " + r.Name)
	for n := 0; n < len(r.Steps); n++ {
		s, last := r.Steps[n], n
		for last+1 < len(r.Steps) && counts(s.Name, r.Steps[last+1].Name, last+1-n) {
			last++
		}
		if last > n {
			t.line("  %s to %s", s.Name, r.Steps[last].Name[strings.LastIndexByte(r.Steps[last].Name, ' ')+1:])
			n = last
			continue
		}
		t.line("  %-40s (%s)%s", s.Name, strings.Join(s.Arguments, ", "), choose(s.Want != "0", " = "+s.Want, ""))
	}
}

// counts reports whether next is the same step with a number that is higher by n.
func counts(name, next string, n int) bool {
	stem, number, ok := strings.Cut(name, "_DROP ")
	first, err := strconv.Atoi(number)
	return ok && err == nil && next == fmt.Sprintf("%s_DROP %d", stem, first+n)
}

func bytesText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/(1<<20)), ".0") + " MiB"
}
