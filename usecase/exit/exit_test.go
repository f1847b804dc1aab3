package exit

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/apkgate/apkgate/gate"
)

// Every command's exit status follows from its verdict, from what fails a build, and from what was
// lost.
func TestExitOf(t *testing.T) {
	phone := Infrastructure(errors.New("the phone is gone"))
	wrong := Usage(errors.New("another package"), "")
	for _, c := range []struct {
		outcome gate.Outcome
		failOn  gate.FailOn
		loss    error
		want    int
		told    bool
	}{
		{gate.Pass, gate.FailInconclusive, nil, 0, false},
		{gate.Improvement, gate.FailInconclusive, nil, 0, false},
		{gate.Inconclusive, gate.FailRegression, nil, 0, false},
		{gate.Inconclusive, gate.FailInconclusive, nil, 1, false},
		{gate.Regression, gate.FailRegression, nil, 1, false},
		{gate.Invalid, gate.FailRegression, nil, 3, false},
		{gate.Regression, gate.FailNever, nil, 0, false},
		{gate.Inconclusive, gate.FailNever, nil, 0, false},
		{gate.Invalid, gate.FailNever, nil, 0, false},
		{gate.Pass, gate.FailRegression, phone, 3, true},
		{gate.Regression, gate.FailRegression, phone, 1, true},
		{gate.Inconclusive, gate.FailInconclusive, phone, 3, true},
		{gate.Invalid, gate.FailRegression, phone, 3, true},
		{gate.Regression, gate.FailNever, phone, 3, true},
		{gate.Invalid, gate.FailNever, phone, 3, true},
		{gate.Pass, gate.FailRegression, wrong, 2, true},
		{gate.Regression, gate.FailRegression, wrong, 1, true},
	} {
		var stderr bytes.Buffer
		got := Finish(&stderr, Of(c.outcome, c.failOn, c.loss))
		if told := stderr.Len() > 0; got != c.want || told != c.told {
			t.Errorf("%s, --fail-on %s, lost %v: exit status %d, want %d; told %q", c.outcome, c.failOn, c.loss, got, c.want, stderr.String())
		}
	}
}

// Each of several errors is printed, also with a verdict; an unclassified one is the
// infrastructure's, and not the caller's.
func TestFinishPrintsEachError(t *testing.T) {
	unsorted := errors.New("close the history: disk full")
	for name, c := range map[string]struct {
		err  error
		want int
		told string
	}{
		"a store that does not close":          {unsorted, 3, "error: close the history: disk full\n"},
		"beside a regression":                  {errors.Join(verdictStatus(1), unsorted), 1, "error: close the history: disk full\n"},
		"beside a wrong flag":                  {errors.Join(Usage(errors.New("--rounds is 0"), "write 12"), unsorted), 3, "error: --rounds is 0\nhint: write 12\nerror: close the history: disk full\n"},
		"a loss and two stores that don't":     {errors.Join(errors.Join(verdictStatus(1), Infrastructure(errors.New("lost"))), unsorted), 1, "error: lost\nerror: close the history: disk full\n"},
		"one sentence of two errors stays one": {fmt.Errorf("close %w: %w", errors.New("the history"), errors.New("disk full")), 3, "error: close the history: disk full\n"},
	} {
		var stderr bytes.Buffer
		if got := Finish(&stderr, c.err); got != c.want || stderr.String() != c.told {
			t.Errorf("%s: exit status %d and %q, want %d and %q", name, got, stderr.String(), c.want, c.told)
		}
	}
}
