package sandbox

import (
	"strings"
	"testing"
)

func TestPolicyRulesSayWhy(t *testing.T) {
	rules, err := seccompPolicy(FilterConfig{ProtectedPIDs: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if r.reason == "" || strings.TrimSpace(r.calls) == "" {
			t.Errorf("rule %q has no reason or no call", r.calls)
		}
		for _, name := range strings.Fields(r.calls) {
			if seen[name] {
				t.Errorf("%s has two rules", name)
			}
			seen[name] = true
		}
	}
}

// A rule that allows must test something, else it would not be a difference.
func TestPolicyRulesNarrow(t *testing.T) {
	rules, err := seccompPolicy(FilterConfig{ProtectedPIDs: []int{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if r.otherwise == retAllow && len(r.cases) == 0 {
			t.Errorf("rule %q allows everything", r.calls)
		}
		for _, c := range r.cases {
			if len(c.when) == 0 {
				t.Errorf("rule %q has a case without a test", r.calls)
			}
		}
	}
}

func TestPolicyWithoutSignalRules(t *testing.T) {
	rules, err := seccompPolicy(FilterConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if strings.Contains(r.calls, "kill") {
			t.Errorf("rule %q without ProtectedPIDs", r.calls)
		}
	}
}
