package pool

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// selftest.py tries in a live worker what no program may do, and prints a line
// for each thing that worked.
//
//go:embed selftest.py
var selfTestCode string

const (
	selfTestWait   = 30 * time.Second
	selfTestOutput = 64 << 10 // bytes, whatever cap callers get
)

// selfTest proves the protections before the first caller: by attempting the
// forbidden act, not by reading what the kernel says of the process.
func (p *Pool) selfTest() error {
	res, err := p.run(p.ctx, sandbox.Request{
		Code:    selfTestCode,
		Stdin:   fmt.Sprintf("%d %t", os.Getpid(), p.posture.Bounding > 0),
		Timeout: selfTestWait,
	}, selfTestOutput)
	if err != nil {
		return err
	}
	if res.ExitCode != 0 || res.Stdout != "tried\n" {
		missing := strings.TrimSpace(res.Stdout + res.Stderr)
		return &sandbox.StepError{Step: "self-test", Err: errors.New(missing)}
	}
	return nil
}
