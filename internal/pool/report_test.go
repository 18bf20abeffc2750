package pool

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-), got (+):\n%s", path, diff)
	}
}

// standing is a report of a sandbox that has one flaw and one gap.
func standing() *Report {
	attempts, _ := parseAttempts(printed(`"ok": true, "detail": "EPERM" -> "ok": false, "detail": "not refused"`))
	for _, t := range trials {
		attempts = append(attempts, Attempt{Protection: t.protection, Attempt: t.attempt, OK: true, Detail: "met"})
	}
	f := newFacts(sandbox.Posture{Name: "container", Temp: "/tmp"}, 1, sandbox.Limits{}, nil)
	steps := []sandbox.Step{
		{Name: "prctl PR_CAPBSET_DROP 0", Args: []sandbox.Arg{sandbox.Int(24), sandbox.Int(0)}},
		{Name: "prctl PR_CAPBSET_DROP 1", Args: []sandbox.Arg{sandbox.Int(24), sandbox.Int(1)}},
		{Name: "prctl PR_CAPBSET_DROP 2", Args: []sandbox.Arg{sandbox.Int(24), sandbox.Int(2)}},
		{Name: "setsid", Any: true},
		{Name: "getppid"},
		{Name: "openat file", Args: []sandbox.Arg{sandbox.Bytes{Data: []byte("/proc/self/file\x00")}}, Bind: "file"},
		{Name: "write file", Args: []sandbox.Arg{sandbox.FD("file"), sandbox.Bytes{Data: []byte("1000")}}, Want: 4},
		{Name: "capset", Args: []sandbox.Arg{sandbox.Bytes{Data: []byte{1, 2, 3}}, sandbox.Bytes{Data: make([]byte, 24)}}},
		{Name: "prlimit64 RLIMIT_CPU", Args: []sandbox.Arg{sandbox.Bytes{Data: bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 2)}}},
		{Name: "seccomp", Args: []sandbox.Arg{sandbox.Bytes{Data: make([]byte, 16), Pointers: map[int][]byte{8: make([]byte, 80)}}}},
	}
	return &Report{
		Reason: "no network: break no network: not refused", Fix: fault, Version: "1.2.3",
		Host: Host{System: "Linux", Release: "6.12.0", Architecture: "amd64", UID: 65532, PID: 1, Container: true,
			LandlockErr: "operation not permitted", Writable: []string{"/tmp"}, MissingCaps: []string{"CAP_KILL"},
			MemoryLimit: 256 << 20, PidsLimit: 128},
		Posture: PostureInfo{Asked: "container", Name: "container", Level: "no Landlock",
			Tried: []Tried{{"namespaces", "unshare: operation not permitted", "install deploy/apparmor/mcp-exec"}}},
		Interpreter: Interpreter{Command: "python3", Executable: "/usr/bin/python3", Version: "3.13.5",
			Packages: []Package{{"numpy", "2.4.0"}, {"PyYAML", ""}}, Fix: "install PyYAML"},
		Limits: &LimitsInfo{MemoryBytes: 105 << 20, MemorySetting: 256 << 20, MemoryIdle: 27 << 20, MemoryReserve: 24 << 20,
			DataBytes: 100 << 20, DataPreloaded: true, Processes: 50, ProcessSetting: 64, WorkspaceBytes: 64 << 20, OutputBytes: 1 << 20},
		Protections: settle(f, attempts, true), Roles: []Role{showRole("worker", steps)},
		Messages: []string{"packages missing, missing [PyYAML]"},
	}
}

func TestReport(t *testing.T) {
	nothing := &Report{Version: "1.2.3", Reason: "python \"python3\": not found", Fix: "set MCP_EXEC_PYTHON",
		Host:        Host{System: "Linux", ContainerErr: "the pid namespace is the host's", ProcErr: "no uid_map", LandlockABI: 7},
		Interpreter: Interpreter{Command: "python3", Packages: []Package{}}, Protections: []Protection{}, Roles: []Role{}}
	for name, r := range map[string]*Report{"doctor": standing(), "doctor-nothing": nothing} {
		var text strings.Builder
		if err := r.Write(&text); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", text.String())
		for line := range strings.Lines(text.String()) {
			if strings.TrimRight(line, " \n")+"\n" != line {
				t.Errorf("%s: white space at the end of %q", name, line)
			}
		}
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", string(data)+"\n")
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{"a\x1b[2Jb\nc\x00": "a [2Jb c ", strings.Repeat("é", 9): "éé", "ok": "ok"} {
		most := 5
		if strings.HasPrefix(text, "a") {
			most = 100
		}
		if got := clean(text, most); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}
