package pool

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

var landlockFacts = newFacts(sandbox.Posture{Name: "landlock", ABI: 6, Temp: "/tmp"}, 4711, sandbox.Limits{}, nil)

// printed is the output of a self-test in which all is refused, changed by edits
// "old -> new".
func printed(edits ...string) string {
	var out strings.Builder
	for _, p := range protections {
		if !p.trial {
			fmt.Fprintf(&out, `{"protection": %q, "attempt": "break %s", "ok": true, "detail": "EPERM"}`+"\n", p.name, p.name)
		}
	}
	text := out.String()
	for _, edit := range edits {
		before, after, _ := strings.Cut(edit, " -> ")
		text = strings.Replace(text, before, after, 1)
	}
	return text
}

func TestJudge(t *testing.T) {
	const rootLine = `{"protection": "not root", "attempt": "break not root", "ok": true, "detail": "EPERM"}` + "\n"
	long := strings.Repeat("x", maxText+1)
	tests := []struct {
		name string
		res  sandbox.Result
		want string // part of the error, or empty
	}{
		{"all refused", sandbox.Result{Stdout: printed()}, ""},
		{"one not refused", sandbox.Result{Stdout: printed(`"ok": true, "detail": "EPERM" -> "ok": false, "detail": "not refused"`)},
			"self-test: no network: break no network: not refused"},
		{"one line missing", sandbox.Result{Stdout: printed(rootLine + " -> ")}, "self-test: not root: nothing was attempted"},
		{"not refused and not finished", sandbox.Result{Stdout: printed(`"ok": true -> "ok": false`), ExitCode: 1}, "no network: break no network"},
		{"not finished", sandbox.Result{Stdout: printed(), ExitCode: 1, Stderr: "Traceback\nOSError: \x1b[31mno\n"},
			"it did not come to its end: exit 1: OSError:  [31mno"},
		{"nothing", sandbox.Result{}, "no network: nothing was attempted"},
		{"timed out", sandbox.Result{ExitCode: -1, TimedOut: true}, "exit -1"},
		{"cut", sandbox.Result{Stdout: printed(), Truncated: true}, "did not come to its end"},
		{"a cut line", sandbox.Result{Stdout: printed()[:40]}, "is no attempt"},
		{"garbage", sandbox.Result{Stdout: "hello\n" + printed()}, "is no attempt"},
		{"two on a line", sandbox.Result{Stdout: printed("\n -> ")}, "more than an attempt"},
		{"twice", sandbox.Result{Stdout: printed() + rootLine}, "twice"},
		{"unknown protection", sandbox.Result{Stdout: printed(`"not root" -> "not toor"`)}, `"not toor" is not known`},
		{"unknown field", sandbox.Result{Stdout: printed(`"ok" -> "more": 1, "ok"`)}, "is no attempt"},
		{"wrong type", sandbox.Result{Stdout: printed(`"ok": true -> "ok": 1`)}, "is no attempt"},
		{"long name", sandbox.Result{Stdout: printed("break not root -> " + long)}, "printable bytes"},
		{"long detail", sandbox.Result{Stdout: printed("EPERM -> " + long)}, "printable bytes"},
		{"terminal codes", sandbox.Result{Stdout: printed(`EPERM -> \u001b[2J`)}, "printable bytes"},
		{"no name", sandbox.Result{Stdout: printed("break not root -> ")}, "printable bytes"},
		{"flood", sandbox.Result{Stdout: flood()}, "more than 500 attempts"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := judge(landlockFacts, tt.res)
			if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
				t.Errorf("judge = %q, want %q", got, tt.want)
			}
		})
	}
}

func flood() string {
	var out strings.Builder
	for n := range maxAttempts + 1 {
		fmt.Fprintf(&out, `{"protection": "not root", "attempt": "attempt %d", "ok": true, "detail": "EPERM"}`+"\n", n)
	}
	return out.String()
}

func TestSettle(t *testing.T) {
	attempts, err := parseAttempts(printed(`"ok": true -> "ok": false`))
	if err != nil {
		t.Fatal(err)
	}
	container := newFacts(sandbox.Posture{Name: "container", Temp: "/tmp"}, 4711, sandbox.Limits{}, nil)
	for _, tt := range []struct {
		facts  facts
		trials bool
		name   string
		want   string
	}{
		{landlockFacts, false, "no network", Fail},
		{landlockFacts, false, "not root", Pass},
		{landlockFacts, false, "wall clock", Untried},
		{landlockFacts, true, "wall clock", Fail}, // nothing was attempted
		{landlockFacts, true, "files outside the read list", Pass},
		{container, true, "files outside the read list", NotKept},
		{container, true, "not root", Pass},
	} {
		all := settle(tt.facts, attempts, tt.trials)
		if len(all) != len(protections) {
			t.Errorf("%d protections, want all %d", len(all), len(protections))
		}
		for _, p := range all {
			if p.Name != tt.name {
				continue
			}
			if p.Status != tt.want || (p.Status == Fail) != (p.Fix != "") || p.Status == NotKept && p.Reason == "" {
				t.Errorf("%s, trials %t: %+v, want status %s", tt.facts.Posture, tt.trials, p, tt.want)
			}
		}
	}
}

// Every limit has a program that meets it, and every such program a protection.
func TestTrials(t *testing.T) {
	covered := map[string]bool{}
	for _, trial := range trials {
		covered[trial.protection] = true
		if !known(trial.protection) || !printable(trial.attempt) {
			t.Errorf("trial %q of %q", trial.attempt, trial.protection)
		}
		if trial.met(sandbox.Result{ExitCode: 1, Stderr: "Traceback"}) || trial.met(sandbox.Result{}) {
			t.Errorf("%s: met by a program that failed or did nothing", trial.attempt)
		}
		req, outputCap := trial.request(sandbox.Limits{MemoryBytes: 1, Processes: 2, WorkspaceBytes: 3})
		if req.Stdin != "1 2 3\n" || req.Timeout <= 0 || outputCap <= 0 {
			t.Errorf("%s: %+v, %d", trial.attempt, req, outputCap)
		}
	}
	for _, p := range protections {
		if p.trial && !covered[p.name] {
			t.Errorf("%s: no program meets it", p.name)
		}
	}
}

func TestOutcome(t *testing.T) {
	wall := trials[0]
	for _, tt := range []struct {
		res  sandbox.Result
		err  error
		want Attempt
	}{
		{sandbox.Result{TimedOut: true, Duration: 502 * time.Millisecond}, nil, Attempt{OK: true, Detail: "timed out after 502 ms"}},
		{sandbox.Result{ExitCode: 1, Stderr: "Traceback\nOSError: no\n"}, nil, Attempt{Detail: "exit 1 OSError: no"}},
		{sandbox.Result{Note: "memory_limit: killed at 1 MiB"}, nil, Attempt{Detail: "memory_limit: killed at 1 MiB"}},
		{sandbox.Result{}, sandbox.ErrBusy, Attempt{Detail: sandbox.ErrBusy.Error()}},
	} {
		tt.want.Protection, tt.want.Attempt = wall.protection, wall.attempt
		if got := wall.outcome(tt.res, tt.err); got != tt.want {
			t.Errorf("outcome(%+v, %v) = %+v, want %+v", tt.res, tt.err, got, tt.want)
		}
	}
}
