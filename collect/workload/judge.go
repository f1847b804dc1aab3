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

// Judge returns why an ended workload failed, nil if it didn't.
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

// monkeyEnds are the messages with which monkey reports that it ended early.
var monkeyEnds = []string{"** No activities found to run", "** Monkey aborted", "** System appears to have crashed"}

// judgeMonkey parses monkey's output and standard error, to which it writes crashes. Its exit code
// is the number of the event at which it ended, in a byte: 0 may be the 256th.
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

// lineOf returns the first line that begins with one of the words, "" if none does.
func lineOf(text []byte, words ...string) string {
	for line := range bytes.Lines(text) {
		line := string(bytes.TrimSpace(line))
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(line, w) }) {
			return line
		}
	}
	return ""
}
