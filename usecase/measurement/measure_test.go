package measurement

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/usecase/exit"
)

// The gravest loss of a lab is reported. The app's own failures are in the verdict, and
// unclassified ones are never skipped.
func TestLossOf(t *testing.T) {
	of := func(cause loss.Cause, text string) collect.Result {
		return collect.Result{Device: "pixel", Err: &loss.Error{Cause: cause, Err: errors.New(text)}}
	}
	whole, crash := collect.Result{}, of(loss.Workload, "the app crashed")
	wrong, gone := of(loss.Configuration, "another package"), of(loss.Infrastructure, "the phone is gone")
	unsorted := collect.Result{Device: "pixel", Err: errors.New("rest: the clock stands still")}
	for _, c := range []struct {
		results []collect.Result
		want    int
		told    string
	}{
		{[]collect.Result{whole, crash}, 0, ""},
		{[]collect.Result{crash, wrong, whole}, 2, "another package"},
		{[]collect.Result{wrong, gone}, 3, "the phone is gone"},
		{[]collect.Result{wrong, unsorted}, 3, "the clock stands still"},
	} {
		var stderr bytes.Buffer
		got := exit.Finish(&stderr, LossOf(c.results))
		if got != c.want || !strings.Contains(stderr.String(), c.told) || c.told == "" && stderr.Len() > 0 {
			t.Errorf("%v: exit status %d and %q, want %d and %q", c.results, got, stderr.String(), c.want, c.told)
		}
	}
}
