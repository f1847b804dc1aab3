package judging_test

import (
	"slices"
	"testing"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/judging"
)

// A verdict's notes: that the devices are simulated, and in how many repetitions the app or its
// test failed. A lost device or connection is no failure of the app, and an incomplete run has its
// reason.
func TestNotesOn(t *testing.T) {
	warned := func(verdict gate.Outcome, texts ...string) gate.RunVerdict {
		r := gate.RunVerdict{Verdict: verdict}
		for _, text := range texts {
			r.Warnings = append(r.Warnings, run.Warning{Text: text})
		}
		return r
	}
	const crashed, gone = "repetition 3 is lost: the app crashed", "repetition 4 is lost: the device is gone"
	for name, c := range map[string]struct {
		runs []gate.RunVerdict
		want []string
	}{
		"nothing":             {[]gate.RunVerdict{warned(gate.Pass)}, nil},
		"other warnings":      {[]gate.RunVerdict{warned(gate.Pass, gone, "the phone is hot")}, nil},
		"a crash":             {[]gate.RunVerdict{warned(gate.Pass, crashed, gone)}, []string{"The app or its test failed in 1 repetition, which had to be measured again: the warnings say how."}},
		"crashes of two runs": {[]gate.RunVerdict{warned(gate.Pass, crashed), warned(gate.Regression, crashed, gone, crashed)}, []string{"The app or its test failed in 3 repetitions, which had to be measured again: the warnings say how."}},
		"a run that ended":    {[]gate.RunVerdict{warned(gate.Invalid, crashed)}, nil},
		"a simulated phone":   {[]gate.RunVerdict{warned(gate.Pass), {Verdict: gate.Invalid, Context: map[string]string{devctx.Simulated: "yes"}}}, []string{"The devices are simulated."}},
	} {
		if got := judging.NotesOn(gate.Verdict{Runs: c.runs}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
