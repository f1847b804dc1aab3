package layout

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
)

// Work that is clearly more is shown with what got worse, with its own numbers, and is not called a
// cause: 44 where 40 were expected is a tenth more. It is shown neither with a rare event, nor in a
// pass.
func TestWorkWithRegression(t *testing.T) {
	more := compared("", "work.inflations", 40, 1, 44, gate.None)
	more.Low, more.High = new(0.07), new(0.13)
	slower := compared("", ms, 100, 4, 120, gate.ToRegression)
	suspect := compared("", ms, 100, 4, 120, gate.Suspect)
	anrs := compared("", "anr.count", 0, 0, 1, gate.ToRegression)
	const told = "- **More work:** 10 % more layouts inflated (44 where 40 were expected) in 1 run. That need not be the cause.\n"
	for name, c := range map[string]struct {
		outcome gate.Outcome
		of      gate.Comparison
		told    bool
	}{
		"a longer time":     {gate.Regression, slower, true},
		"perhaps a longer":  {gate.Inconclusive, suspect, true},
		"an ANR":            {gate.Regression, anrs, false},
		"nothing got worse": {gate.Pass, cleared(ms, 101), false},
	} {
		in := settled(c.outcome, gate.StoppedSettled, 16, c.of)
		in.Verdict.Runs[0].Work = []gate.Comparison{more}
		if got := commentOf(t, in); strings.Contains(got, told) != c.told || strings.Contains(got, "layouts inflated") != c.told {
			t.Errorf("%s: it tells of more work: %v, want %v\n%s", name, !c.told, c.told, got)
		}
	}
}

// In rounds the numbers are those of the rounds: 110 where the base build has 100.
func TestWorkInRounds(t *testing.T) {
	in := settled(gate.Regression, gate.StoppedSettled, 16, beside(compared("", ms, 90, 4, 107, gate.None), 0.104, 16, gate.RoundsWorse))
	in.Verdict.Runs[0].Work = []gate.Comparison{beside(compared("", "work.page_faults", 90, 4, 107, gate.None), 0.1, 16, gate.RoundsWorse)}
	lacks(t, commentOf(t, in), "- **More work:** 10 % more minor page faults (110 where the base build has 100) in 1 run. That need not be the cause.\n")
}
