package workload

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// Judge tells how a workload of the app ended that has ended by itself.
func (r *Running) Judge(w config.Workload, app string) error {
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
	case w.Startup != nil:
		r.Started = readStart(errs, out)
		return r.Started.judge(w.Startup.Mode, app)
	case w.Monkey != nil:
		return judgeMonkey(out, errs, code)
	case code != 0:
		return fmt.Errorf("%w: exit status %d: %s", loss.ErrTestFail, code, target.LastLine(errs, out))
	}
	return nil
}

// monkeyEnds are the words with which monkey says that it ended before its time.
var monkeyEnds = []string{"** No activities found to run", "** Monkey aborted", "** System appears to have crashed"}

// judgeMonkey reads what monkey says of its end, in its output and its standard
// error: it writes a crash to the latter. Its exit code is the number of the event
// at which it ended, in a byte: 0 may be the 256th.
func judgeMonkey(out, errs []byte, code int) error {
	said := slices.Concat(errs, []byte("\n"), out)
	if crash := lineOf(said, "// CRASH: "); crash != "" {
		return fmt.Errorf("%w: %s", loss.ErrCrashed, journal.Line(strings.TrimPrefix(crash, "// ")))
	}
	if ended := lineOf(said, monkeyEnds...); ended != "" {
		return fmt.Errorf("%w: %s", loss.ErrTestFail, journal.Line(ended))
	}
	if code != 0 {
		return fmt.Errorf("%w: monkey: exit status %d: %s", loss.ErrTestFail, code, target.LastLine(errs, out))
	}
	return nil
}

// lineOf is the first line that begins with one of the words, "" where none does.
func lineOf(text []byte, words ...string) string {
	for line := range bytes.Lines(text) {
		line := string(bytes.TrimSpace(line))
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(line, w) }) {
			return line
		}
	}
	return ""
}
