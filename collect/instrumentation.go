package collect

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// instrumentation is what `am instrument -w -r` said.
type instrumentation struct {
	ran      int      // tests that ended, well or not
	failed   []string // "Class#method: first line of the stack"
	crashed  string   // INSTRUMENTATION_RESULT's message where the process died
	refused  string   // why it could not be started
	finished bool     // INSTRUMENTATION_CODE was there
}

// The status codes of a test (android.test.InstrumentationTestRunner).
const (
	statusOK      = 0
	statusError   = -1
	statusFailure = -2
)

// readInstrumentation reads the raw output. Lines that are no status lines
// continue the value above them.
func readInstrumentation(out []byte) instrumentation {
	var in instrumentation
	status, result := map[string]string{}, map[string]string{}
	for line := range strings.SplitSeq(string(out), "\n") {
		line = strings.TrimSuffix(line, "\r")
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "INSTRUMENTATION_STATUS":
			name, text, _ := strings.Cut(value, "=")
			status[name] = text
		case "INSTRUMENTATION_STATUS_CODE":
			in.endTest(value, status)
			status = map[string]string{}
		case "INSTRUMENTATION_RESULT":
			name, text, _ := strings.Cut(value, "=")
			result[name] = text
		case "INSTRUMENTATION_CODE":
			in.finished = true
		case "INSTRUMENTATION_FAILED":
			in.refused = "am instrument could not start " + value
		case "INSTRUMENTATION_ABORTED":
			in.crashed = value
		}
		if strings.HasPrefix(line, "android.util.AndroidException: ") && in.refused == "" {
			in.refused = value
		}
	}
	if message := result["shortMsg"]; message != "" {
		in.crashed = message
		if long := result["longMsg"]; long != "" && long != message {
			in.crashed += ": " + long
		}
	}
	if reason := status["Error"]; reason != "" {
		in.refused = reason
	}
	return in
}

func (in *instrumentation) endTest(code string, status map[string]string) {
	n, err := strconv.Atoi(strings.TrimSpace(code))
	switch {
	case err != nil || n > statusOK: // 1: the test begins
	case n == statusError && status["Error"] != "":
		in.refused = status["Error"]
	case n == statusError || n == statusFailure:
		in.ran++
		in.failed = append(in.failed, fmt.Sprintf("%s#%s: %s", status["class"], status["test"], status["stack"]))
	case n == statusOK && status["test"] != "":
		in.ran++
	}
}

// judge tells what is wrong, by what was said, the exit code, and what the
// command wrote to its standard error: why it could not begin, as a rule.
func (in instrumentation) judge(code int, errs []byte) error {
	switch {
	case in.refused != "":
		return &Error{Cause: Workload, Phase: Measure, final: true, Err: fmt.Errorf("start the test: %s", clip(in.refused)),
			hint: "compare test-package and runner with what `adb shell pm list instrumentation` prints"}
	case in.crashed != "":
		return fmt.Errorf("%w: %s", ErrCrashed, clip(in.crashed))
	case len(in.failed) > 0:
		return fmt.Errorf("%w: %s", ErrTestFail, clip(in.failed[0]))
	case !in.finished:
		err := fmt.Errorf("%w: am instrument ended with status %d in the middle of its output", ErrTestFail, code)
		if len(bytes.TrimSpace(errs)) > 0 {
			err = fmt.Errorf("%w: %s", err, firstLine(errs))
		}
		return err
	case in.ran == 0:
		return &Error{Cause: Workload, Phase: Measure, final: true, Err: fmt.Errorf("%w: no test ran", ErrTestFail),
			hint: "the workload's class names no test of the test APK"}
	}
	return nil
}
