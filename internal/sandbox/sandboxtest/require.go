// Package sandboxtest says what a test needs of the machine.
package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// RequireEnv lists, separated by commas, the mechanisms whose absence is a
// failure: in CI nothing is skipped.
const RequireEnv = "MCP_EXEC_TEST_REQUIRE"

// Require skips a test where a mechanism is missing, and names it; it fails the
// test where RequireEnv lists the mechanism. Known are root, docker, python (one
// with the six libraries, in MCP_EXEC_PYTHON), namespaces and landlock>=N.
func Require(t testing.TB, mechanisms ...string) {
	t.Helper()
	listed := strings.Split(os.Getenv(RequireEnv), ",")
	for _, m := range mechanisms {
		err := missing(m)
		if err == nil {
			continue
		}
		name, _, _ := strings.Cut(m, ">=")
		if slices.Contains(listed, name) {
			t.Fatalf("%s is required here but missing: %v", m, err)
		}
		t.Skipf("needs %s: %v", m, err)
	}
}

func missing(mechanism string) error {
	name, version, _ := strings.Cut(mechanism, ">=")
	switch name {
	case "root":
		if os.Geteuid() != 0 {
			return errors.New("not uid 0")
		}
		return nil
	case "docker":
		return exec.Command("docker", "version").Run()
	case "python":
		return exec.Command(os.Getenv("MCP_EXEC_PYTHON"), "-c", "import numpy, pandas, matplotlib, PIL, yaml, jinja2").Run()
	case "landlock":
		return missingLandlock(version)
	case "namespaces":
		return missingNamespaces()
	}
	return fmt.Errorf("unknown mechanism %q", mechanism)
}

func missingLandlock(version string) error {
	want, err := strconv.Atoi(version)
	if err != nil {
		return fmt.Errorf("landlock version %q", version)
	}
	if have := landlockABI(); have < want {
		return fmt.Errorf("landlock ABI is %d", have)
	}
	return nil
}
