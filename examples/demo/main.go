// Command demo starts the built server over stdio, as any MCP client would, lists
// its tool, runs the programs of examples/ and shows what comes back.
//
//	demo SERVER
//
// It is also a test: exit 1 when a result is not what it has to be, 3 when the
// server refuses to start, with the server's own words.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	exitUnexpected = 1
	exitUsage      = 2
	exitRefused    = 3
)

// patience is for the whole demo, the making of a warm interpreter included.
const patience = 3 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: demo SERVER")
		os.Exit(exitUsage)
	}
	os.Exit(run(ctx, os.Args[1], os.Stdout, os.Stderr))
}

// run is the demo; it returns the exit status.
func run(ctx context.Context, path string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path, err := filepath.Abs(path)
	if err == nil {
		err = show(ctx, path, newPage(stdout))
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "demo:", err)
	if errors.As(err, new(*refusedError)) {
		return exitRefused
	}
	return exitUnexpected
}

// show prints the whole page, and at its end all that was not as expected.
func show(ctx context.Context, path string, p *page) error {
	p.opening(path)
	s, err := start(ctx, path)
	if err != nil {
		return err
	}
	sum, err := present(ctx, s, p)
	if closeErr := s.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("stop server: %w", closeErr)
	}
	if err != nil {
		return err
	}
	p.closing(path, os.Getenv("MCP_EXEC_PYTHON"), sum)
	return nil
}

// present lists the tool and runs the programs.
func present(ctx context.Context, s *server, p *page) (summary, error) {
	tool, err := s.tool(ctx)
	if err != nil {
		return summary{}, err
	}
	w, err := s.warm(ctx)
	if err != nil {
		return summary{}, err
	}
	p.server(s, tool, w)
	return runAll(ctx, s, p)
}

// summary is what the closing lines say of all programs.
type summary struct {
	fastest time.Duration
	refused int // attempts of the hostile program
}

func (s *summary) add(r result, took time.Duration) {
	if s.fastest == 0 || took < s.fastest {
		s.fastest = took
	}
	s.refused += strings.Count(r.Stdout, "refused: ")
}

// runAll runs every program, also after one that did not end as it has to.
func runAll(ctx context.Context, s *server, p *page) (summary, error) {
	var sum summary
	var faults []error
	for i, prog := range programs {
		r, took, err := s.exec(ctx, prog)
		if err != nil {
			return sum, fmt.Errorf("%s: %w", prog.file, err)
		}
		sum.add(r, took)
		p.program(i+1, prog, r, took)
		if err := prog.want.check(r); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", prog.file, err))
		}
	}
	return sum, errors.Join(faults...)
}
