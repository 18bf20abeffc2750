package pool

import (
	"encoding/json"
	"os"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

const (
	selfTestWait   = 30 * time.Second
	selfTestOutput = 64 << 10 // bytes, whatever cap callers get
)

// selfTest proves the protections before the first caller: by attempting the
// forbidden act, not by reading what the kernel says of the process.
func (p *Pool) selfTest() error {
	f := p.facts()
	stdin, err := json.Marshal(f)
	if err != nil {
		return err
	}
	res, err := p.run(p.ctx, sandbox.Request{Code: selfTestCode, Stdin: string(stdin), Timeout: selfTestWait}, selfTestOutput)
	if err != nil {
		return err
	}
	p.attempts, err = judge(f, res)
	return err
}

func (p *Pool) facts() facts {
	f := newFacts(p.posture, os.Getpid(), p.environment.Limits, p.root)
	f.OpenFiles = sandbox.OpenFiles
	return f
}
