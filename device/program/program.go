// Package program runs the programs of this computer that boot devices: to their end, or
// for as long as a device lives.
//
// It owns what is true of each of them: it gets a time in which to end, what it prints is
// bounded, it is stopped together with every process of its group, and it is stopped only
// once that is proved. And it knows processes of others by more than their number, which a
// later process may have: a process is told by when it was started, too.
//
// It takes a stand: a program dies with apkgate where the system can do that (Linux), since
// a program that goes on by itself creates what nobody looks for. What is printed belongs
// to whoever asked for it, and is neither decoded nor made harmless here.
package program

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Command is a program that is to be run.
type Command struct {
	Path string
	Args []string // without the program's own name
	Env  []string // "NAME=value", beside this process's own and before them in rank
	Dir  string   // where it runs; "" for where this process does
	// Stdin is what it reads.
	Stdin string
	// Outlives lets the program go on where this process is killed (on Linux it ends
	// otherwise): for one that says in a file what it has started elsewhere.
	Outlives bool
	// Timeout is how long Run lets it run; 0 for DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout is how long a program may take that should only look something up.
const DefaultTimeout = time.Minute

// name is the program's, for messages.
func (c Command) name() string { return filepath.Base(c.Path) }

// What is kept of what a program prints.
const (
	mostStdout = 4 << 20  // bytes, the first
	mostStderr = 64 << 10 // bytes, the last
)

// Result is what a program printed, and how it ended.
type Result struct {
	Stdout []byte // the first 4 MiB
	Stderr []byte // the last 64 KiB
	// Cut says that Stdout was longer.
	Cut      bool
	ExitCode int
}

// Said is what the program said of itself in one line, for messages: what it printed as an
// error, or else its output; the end of it where it is long.
func (r Result) Said() string {
	for _, text := range [][]byte{r.Stderr, r.Stdout} {
		const most = 400 // bytes
		if said := prose.OneLine(string(text[max(0, len(text)-most):])); said != "" {
			return said
		}
	}
	return ""
}

// ErrTimeout is wrapped where a program took longer than it may.
var ErrTimeout = errors.New("it took too long")

// grace is how long a program has between being asked to end and being killed.
const grace = 5 * time.Second

// Run runs the program to its end. An exit code that is not 0 is no error; that it could
// not be started, was killed by a signal, or took too long is, and so is the end of ctx.
// After an error the result holds what it had printed, and no process of its group is left.
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
