package workload

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
)

// instrumentation parses the output of `am instrument -w -r` as it comes: thousands of tests print
// more than can be kept.
type instrumentation struct {
	ran      int    // ended tests, passed or not
	skipped  int    // tests that were ignored, or whose assumptions did not hold
	expected int    // number of all tests, 0 if unknown
	failed   int    // tests
	failure  string // of the first: "Class#method: first line of the stack"
	crashed  string // INSTRUMENTATION_RESULT's message if the process died
	refused  string // why it could not be started
	finished bool   // INSTRUMENTATION_CODE was there
	measures bool   // it is of androidx.benchmark, and reports its measurements
	summary  string // the runner's final summary of failures, "" for none

	status   map[string]string // of the test under way
	result   map[string]string
	line     []byte // under way, its first maxStatusLine bytes
	counting bool   // the next line contains the number of failures
}

// The status codes of a test (android.test.InstrumentationTestRunner; below -2:
// androidx.test.internal.runner.listener.InstrumentationResultPrinter).
const (
	statusOK      = 0
	statusError   = -1
	statusFailure = -2
)

const (
	maxStatusLine = 8 << 10 // parsed bytes of a line
	maxTests      = 1 << 30
)

// Write parses more of the raw output. Lines that are no status lines continue the value above
// them.
func (in *instrumentation) Write(p []byte) (int, error) {
	n := len(p)
	for {
		piece, rest, whole := bytes.Cut(p, []byte("\n"))
		in.line = append(in.line, piece[:min(len(piece), maxStatusLine-len(in.line))]...)
		if !whole {
			return n, nil
		}
		in.take(strings.TrimSuffix(string(in.line), "\r"))
		in.line, p = in.line[:0], rest
	}
}

// end parses the last line, which may be unterminated.
func (in *instrumentation) end() {
	in.take(strings.TrimSuffix(string(in.line), "\r"))
	in.line = nil
	if message := in.result["shortMsg"]; message != "" {
		in.crashed = message
		if long := in.result["longMsg"]; long != "" && long != message {
			in.crashed += ": " + long
		}
	}
	if reason := in.status["Error"]; reason != "" {
		in.refused = reason
	}
}

// take parses one line.
func (in *instrumentation) take(line string) {
	key, value, _ := strings.Cut(line, ": ")
	switch key {
	case "INSTRUMENTATION_STATUS":
		keep(&in.status, value, "class", "test", "stack", "numtests", "Error")
		in.measures = in.measures || strings.HasPrefix(value, "android.studio.display.benchmark=")
	case "INSTRUMENTATION_STATUS_CODE":
		in.endTest(value)
		in.status = nil
	case "INSTRUMENTATION_RESULT":
		keep(&in.result, value, "shortMsg", "longMsg", "stream")
	case "INSTRUMENTATION_CODE":
		in.finished = true
	case "INSTRUMENTATION_FAILED":
		in.refused = "am instrument could not start " + value
	case "INSTRUMENTATION_ABORTED":
		in.crashed = value
	}
	switch {
	case strings.HasPrefix(line, "android.util.AndroidException: ") && in.refused == "":
		in.refused = value
	case line == "FAILURES!!!" && in.result != nil: // JUnit's TextListener
		in.summary, in.counting = line, true
	case in.counting:
		in.summary, in.counting = in.summary+" "+line, false
	}
}

// keep stores NAME=TEXT if the name is one of names.
func keep(values *map[string]string, pair string, names ...string) {
	name, text, _ := strings.Cut(pair, "=")
	if *values == nil {
		*values = map[string]string{}
	}
	if slices.Contains(names, name) {
		(*values)[name] = text
	}
}

func (in *instrumentation) endTest(code string) {
	if n, err := strconv.Atoi(in.status["numtests"]); err == nil && n > 0 && n < maxTests {
		in.expected = n
	}
	n, err := strconv.Atoi(strings.TrimSpace(code))
	switch {
	case err != nil || n > statusOK: // 1: the test begins
	case n == statusError && in.status["Error"] != "":
		in.refused = in.status["Error"]
	case n == statusError || n == statusFailure:
		in.ran++
		in.failed++
		if in.failed == 1 {
			in.failure = fmt.Sprintf("%s#%s: %s", in.status["class"], in.status["test"], in.status["stack"])
		}
	case in.status["test"] == "":
	case n == statusOK:
		in.ran++
	default:
		in.skipped++
	}
}

// silent is the prefix of Android's result if an app under test took no input for a minute. It
// reports no ANR then (ActivityManagerService.inputDispatchingTimedOut).
const silent = "keyDispatchingTimedOut"

// judge returns what is wrong, by the output, the exit code, and the command's standard error,
// which usually says why it could not begin.
func (in *instrumentation) judge(code int, errs []byte) error {
	switch {
	case in.refused != "":
		return &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Final: true, Err: fmt.Errorf("start the test: %s", journal.Line(in.refused)),
			Advice: "compare test-package and runner with what `adb shell pm list instrumentation` prints"}
	case strings.HasPrefix(in.crashed, silent):
		return fmt.Errorf("%w: Android ended the test: %s", loss.ErrSilent, journal.Line(in.crashed))
	case in.crashed != "":
		return fmt.Errorf("%w: %s", loss.ErrCrashed, journal.Line(in.crashed))
	case in.failed > 1:
		return failedTest(fmt.Sprintf("%s (and %d more)", journal.Line(in.failure), in.failed-1))
	case in.failed == 1:
		return failedTest(journal.Line(in.failure))
	case !in.finished:
		err := fmt.Errorf("%w: am instrument ended with status %d in the middle of its output", loss.ErrTestFail, code)
		if len(bytes.TrimSpace(errs)) > 0 {
			err = fmt.Errorf("%w: %s", err, target.FirstLine(errs))
		}
		return err
	case in.summary != "":
		return fmt.Errorf("%w: %s", loss.ErrTestFail, journal.Line(in.summary))
	case in.ran > 0 && in.ran+in.skipped < in.expected:
		return fmt.Errorf("%w: of %d tests %d did not say how they ended", loss.ErrTestFail, in.expected, in.expected-in.ran-in.skipped)
	case in.ran == 0:
		return &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Final: true, Err: fmt.Errorf("%w: no test ran", loss.ErrTestFail),
			Advice: "the workload's class names no test of the test APK"}
	}
	return nil
}

// notThere are the messages with which runners report a missing class or method, as a test that
// failed.
var notThere = []string{"ClassNotFoundException", "Failed loading specified test class", "No tests found matching"}

// failedTest returns the loss by a test that failed or is missing.
func failedTest(said string) error {
	err := fmt.Errorf("%w: %s", loss.ErrTestFail, said)
	if _, ids, refused := strings.Cut(said, "ERRORS (not suppressed): "); refused {
		return &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Final: true, Err: err, Advice: adviceOf(ids)}
	}
	if strings.Contains(said, orchestratorSays) {
		return &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Err: fmt.Errorf("%w: %s", loss.ErrCrashed, said), Advice: adviceOnCrash}
	}
	if slices.ContainsFunc(notThere, func(words string) bool { return strings.Contains(said, words) }) {
		return &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Err: err, Advice: "is the class, with its method, in the test APK?"}
	}
	return err
}
