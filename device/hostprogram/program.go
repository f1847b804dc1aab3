// Package hostprogram runs the programs of this computer that boot devices, either to their end or
// for as long as a device lives.
//
// It owns what they have in common: each has a timeout, its output is limited, it is stopped
// together with every process of its group, and a stop returns only once the group has
// verifiably ended. It identifies processes of others by their number and start time, since a
// number may be reused.
//
// A program dies with apkgate where the system supports that (Linux), because an orphaned
// program would create resources that no process cleans up. Output is returned as it is,
// neither decoded nor escaped.
package hostprogram

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Command is a program to run.
type Command struct {
	Path string
	Args []string // without the program's own name
	Env  []string // "NAME=value", added to this process's variables and overriding them
	Dir  string   // the working directory; "" for this process's
	// Stdin is the program's standard input.
	Stdin string
	// Outlives keeps the program running if this process is killed (on Linux it would end):
	// for a program that writes to a file what it has started elsewhere.
	Outlives bool
	// Timeout limits how long Run lets it run; 0 means DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout is the limit for a program that only looks something up.
const DefaultTimeout = time.Minute

// name returns the program's name, for messages.
func (c Command) name() string { return filepath.Base(c.Path) }

// Limits on the output that is kept.
const (
	mostStdout = 4 << 20  // bytes, the first
	mostStderr = 64 << 10 // bytes, the last
)

// Result is a program's output and how it ended.
type Result struct {
	Stdout []byte // the first 4 MiB
	Stderr []byte // the last 64 KiB
	// Cut reports that Stdout was longer.
	Cut      bool
	ExitCode int
}

// Said returns the program's message in one line: its standard error, or else its output; only
// the end of it if it is long.
func (r Result) Said() string {
	for _, text := range [][]byte{r.Stderr, r.Stdout} {
		const most = 400 // bytes
		if said := prose.OneLine(string(text[max(0, len(text)-most):])); said != "" {
			return said
		}
	}
	return ""
}

// ErrTimeout is wrapped by the error of a program that took longer than its timeout.
var ErrTimeout = errors.New("it took too long")

// grace is the time between asking a program to end and killing it.
const grace = 5 * time.Second

// Run runs the program to its end. A nonzero exit code is not an error. The error is that the
// program could not be started, was killed by a signal or took too long, or that ctx has
// ended. After an error the result contains the output so far, and no process of its group is
// left.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	stdout, stderr := &head{most: mostStdout}, &tail{most: mostStderr}
	p, err := Start(c, stdout, stderr)
	if err != nil {
		return Result{}, err
	}
	longest := c.Timeout
	if longest == 0 {
		longest = DefaultTimeout
	}
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-p.Done():
	case <-timer.C:
		err = fmt.Errorf("run %s: %w: more than %v", c.name(), ErrTimeout, longest)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		err = errors.Join(err, p.Stop(grace))
	} else if p.signal != "" {
		err = fmt.Errorf("run %s: it was ended by the signal %q", c.name(), p.signal)
	}
	r := Result{Stderr: stderr.bytes(), ExitCode: p.exitCode}
	r.Stdout, r.Cut = stdout.bytes()
	return r, err
}
