package workload

import (
	"bytes"
	"fmt"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// Judge tells how a workload ended that has ended by itself.
func (r *Running) Judge(w config.Workload) error {
	if r.err != nil {
		return &loss.Error{Cause: loss.Infrastructure, Phase: journal.Measure, Err: fmt.Errorf("run the workload: %w", r.err)}
	}
	out, code := r.said()
	var errs []byte
	if r.errs != nil {
		errs = r.errs()
	}
	switch {
	case w.Instrumentation != nil:
		r.tests.end()
		return r.tests.judge(code, errs)
	case w.Monkey != nil:
		return judgeMonkey(out, errs, code)
	case code != 0:
		return fmt.Errorf("%w: exit status %d: %s", loss.ErrTestFail, code, target.LastLine(errs, out))
	}
	return nil
}

// judgeMonkey reads what monkey says of its end; its exit code tells how many
// events it did not get to, or nothing.
func judgeMonkey(out, errs []byte, code int) error {
	for line := range bytes.SplitSeq(out, []byte("\n")) {
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("// CRASH: ")):
			return fmt.Errorf("%w: %s", loss.ErrCrashed, journal.Line(string(line[3:])))
		case bytes.HasPrefix(line, []byte("** No activities found to run")):
			return fmt.Errorf("%w: %s", loss.ErrTestFail, journal.Line(string(line)))
		case bytes.HasPrefix(line, []byte("** Monkey aborted")), bytes.HasPrefix(line, []byte("** System appears to have crashed")):
			return fmt.Errorf("%w: %s", loss.ErrTestFail, journal.Line(string(line)))
		}
	}
	if code != 0 {
		return fmt.Errorf("%w: monkey: exit status %d: %s", loss.ErrTestFail, code, target.LastLine(errs, out))
	}
	return nil
}
