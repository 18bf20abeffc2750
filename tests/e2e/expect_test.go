//go:build linux

package e2e

import (
	"strconv"
	"strings"
	"testing"
)

// expectation is what an attack says of one attempt that is not simply refused in
// some place, with what it reaches there instead, in a line of its header:
//
//	# except CONDITIONS: RESULT: ATTEMPT; ATTEMPT
//
// RESULT is the name of an errno that means refused here, or ALLOWED with the first
// words of the detail, if only that may be. At an attempt's end # is any number.
type expectation struct {
	result, detail, attempt string
}

// expectations are those of an attack in a place. Whatever they don't name is
// refused.
func expectations(t testing.TB, p place, code string) []expectation {
	t.Helper()
	var all []expectation
	for line := range strings.Lines(code) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "# except ")
		if !ok {
			continue
		}
		parts := strings.SplitN(rest, ": ", 3)
		if len(parts) != 3 {
			t.Fatalf("%q: want conditions, result and attempts", line)
		}
		if !p.is(t, parts[0]) {
			continue
		}
		result, detail, _ := strings.Cut(parts[1], " ")
		for attempt := range strings.SplitSeq(parts[2], "; ") {
			all = append(all, expectation{result, detail, attempt})
		}
	}
	return all
}

// met reports whether the outcome is the expected one.
func (e expectation) met(o outcome) bool {
	if !e.names(o.name()) {
		return false
	}
	if e.result == "ALLOWED" {
		return o.result == "ALLOWED" && (e.detail == "" || strings.HasPrefix(o.detail+" ", e.detail+" "))
	}
	return o.result != "ALLOWED" && o.detail == e.result
}

func (e expectation) names(attempt string) bool {
	prefix, numbered := strings.CutSuffix(e.attempt, "#")
	rest, ok := strings.CutPrefix(attempt, prefix)
	if !numbered {
		return rest == "" && ok
	}
	_, err := strconv.Atoi(rest)
	return ok && err == nil
}

// compareOutcomes fails for more than is expected, and for less.
func compareOutcomes(t testing.TB, want []expectation, got []outcome) {
	t.Helper()
	came := map[expectation]bool{}
	for _, o := range got {
		expected := o.result == "refused"
		for _, e := range want {
			if e.met(o) {
				came[e], expected = true, true
			}
		}
		if !expected {
			t.Errorf("%s: %s %s, want refused", o.attempt, o.result, o.detail)
		}
	}
	for _, e := range want {
		if !came[e] {
			t.Errorf("%s: not %s %s, which is expected here", e.attempt, e.result, e.detail)
		}
	}
}
