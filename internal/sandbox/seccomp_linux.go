package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elastic/go-seccomp-bpf/arch"
	base "github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/net/bpf"
)

// maxInstructions is BPF_MAXINSNS: the kernel takes no longer program.
const maxInstructions = 4096

// SeccompProgram returns the filter as an array of struct sock_filter, ready
// for a struct sock_fprog. The architecture is "amd64" or "arm64".
//
// It is the allow-list that containers run with, for a container without
// capabilities on a new kernel, with the differences of seccompPolicy. The default is
// EPERM; ENOSYS for numbers that are newer than the list or that nobody knows,
// x32 on amd64 among them; another architecture kills the process.
func SeccompProgram(archName string, c FilterConfig) ([]byte, error) {
	info, err := archInfo(archName)
	if err != nil {
		return nil, err
	}
	rules, err := seccompPolicy(c)
	if err != nil {
		return nil, err
	}
	table, err := callTable(callNumbers(info), baseList(archName), rules)
	if err != nil {
		return nil, fmt.Errorf("seccomp table %s: %w", archName, err)
	}
	raw, err := bpf.Assemble(filterProgram(uint32(info.ID), spans(table)))
	if err != nil {
		return nil, fmt.Errorf("assemble filter: %w", err)
	}
	if len(raw) > maxInstructions {
		return nil, fmt.Errorf("assemble filter: %d instructions, limit %d", len(raw), maxInstructions)
	}
	return encodeFilter(raw), nil
}

// archInfo knows the two architectures for which the policy was reviewed.
func archInfo(name string) (*arch.Info, error) {
	if name != "amd64" && name != "arm64" {
		return nil, fmt.Errorf("seccomp filter for %s: want amd64 or arm64", name)
	}
	return arch.GetInfo(name)
}

// callNumbers maps names to numbers. On arm64 the table has the generic header's
// name for a call that the base list, libc and strace call newfstatat.
func callNumbers(info *arch.Info) map[string]int {
	numbers := make(map[string]int, len(info.SyscallNames)+1)
	for name, nr := range info.SyscallNames {
		if name == "fstatat" {
			name = "newfstatat"
		}
		numbers[name] = nr
	}
	return numbers
}

// baseCall is the base list's word on one system call.
type baseCall struct {
	conditional bool // allowed for some arguments
}

// baseList evaluates the container profile. We do it ourselves because its own
// evaluation is for the machine that it runs on.
func baseList(archName string) map[string]baseCall {
	allowed := map[string]baseCall{}
	for _, s := range base.DefaultProfile().Syscalls {
		if s.Action != specs.ActAllow || !applies(s, archName) {
			continue
		}
		for _, name := range s.Names {
			allowed[name] = baseCall{conditional: len(s.Args) > 0}
		}
	}
	return allowed
}

// applies tells whether an entry counts without capabilities and on a kernel
// that is newer than any that it asks for.
func applies(s *base.Syscall, archName string) bool {
	if in := s.Includes; in != nil {
		if len(in.Caps) > 0 || len(in.Arches) > 0 && !slices.Contains(in.Arches, archName) {
			return false
		}
	}
	if ex := s.Excludes; ex != nil {
		return ex.MinKernel == nil && !slices.Contains(ex.Arches, archName)
	}
	return true
}

// callTable gives each system call number its rule, without gaps; what follows
// the last is ENOSYS.
func callTable(numbers map[string]int, allowed map[string]baseCall, rules []callRule) ([]callRule, error) {
	ruled, err := rulesByName(rules)
	if err != nil {
		return nil, err
	}
	table := slices.Repeat([]callRule{{otherwise: retENOSYS}}, slices.Max(slices.Collect(maps.Values(numbers)))+1)
	newest := newestNumber(numbers, allowed)
	for name, nr := range numbers {
		was, isAllowed := allowed[name]
		rule, isRuled := ruled[name]
		switch {
		case isRuled:
			table[nr] = rule
		case isAllowed && was.conditional:
			return nil, fmt.Errorf("%s: the base list has a condition and the policy no rule", name)
		case isAllowed:
			table[nr] = callRule{otherwise: retAllow}
		case nr <= newest:
			table[nr] = callRule{otherwise: retEPERM}
		}
	}
	return table, nil
}

func rulesByName(rules []callRule) (map[string]callRule, error) {
	byName := map[string]callRule{}
	for _, r := range rules {
		for _, name := range strings.Fields(r.calls) {
			if _, ok := byName[name]; ok {
				return nil, fmt.Errorf("%s: two rules", name)
			}
			byName[name] = r
		}
	}
	return byName, nil
}

// newestNumber is the highest one that the base list allows.
func newestNumber(numbers map[string]int, allowed map[string]baseCall) int {
	newest := 0
	for name, nr := range numbers {
		if _, ok := allowed[name]; ok {
			newest = max(newest, nr)
		}
	}
	return newest
}

// spans joins neighbours with the same unconditional verdict.
func spans(table []callRule) []span {
	var out []span
	last := callRule{}
	for nr, r := range append(slices.Clone(table), callRule{otherwise: retENOSYS}) {
		if nr > 0 && len(r.cases)+len(last.cases) == 0 && r.otherwise == last.otherwise {
			continue
		}
		out = append(out, span{uint32(nr), r.block()})
		last = r
	}
	return out
}
