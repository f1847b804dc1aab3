package sidebyside

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Two builds whose frames are done before their deadline, one half as early.
func TestOverrunIsCompared(t *testing.T) {
	p, catalogue := gatetest.Overruns(t, gate.PresetDefault)
	p.Alpha = 0.05
	of := func(session string, ms float64) []run.Run {
		r := gatetest.Rounds("r"+session, 12, func(i int) map[string]float64 {
			return map[string]float64{"frames.overrun_ms": ms + 0.1*float64(i%5)}
		})
		r.Session = session
		return gatetest.Runs(r)
	}
	for name, c := range map[string]struct {
		base, head []run.Run
		want       gate.Outcome
		said       string
	}{
		"nearer to the deadline": {of("s", -8), of("s", -4), gate.Regression, "where the base has -7.85 ms (+4.00 ms); 95 % interval +4.00 ms to +4.00 ms, p "},
		"further from it":        {of("s", -4), of("s", -8), gate.Improvement, "(−4.00 ms); 95 % interval −4.00 ms to −4.00 ms, p "},
		"by next to nothing":     {of("s", 0), of("s", 0.3), gate.Pass, "worse by at most 0.30 ms (time beyond the deadline)"},
		"a little better":        {of("s", 0.3), of("s", 0), gate.Pass, "worse by at most 0.00 ms (time beyond the deadline)"},
		// One session of each can't separate a build from a hot phone, whatever the amount.
		"of two sessions": {of("s", -8), of("t", 8), gate.Inconclusive, "perhaps worse: "},
	} {
		v := Compare(p, catalogue, c.base, c.head)
		if v.Verdict != c.want || !strings.Contains(v.Reason, c.said) {
			t.Errorf("%s: %s: %q, want %s and %q", name, v.Verdict, v.Reason, c.want, c.said)
		}
		if c.want == gate.Pass { // the same, if more were better
			m, _ := catalogue.Lookup("frames.overrun_ms")
			m.Direction = metric.HigherIsBetter
			turned, err := catalogue.With(m)
			if err != nil {
				t.Fatal(err)
			}
			if back := Compare(p, turned, c.head, c.base); back.Reason != v.Reason {
				t.Errorf("%s, turned round: %q, want %q", name, back.Reason, v.Reason)
			}
		}
		if d := v.Scenarios[0].Comparisons[0]; d.Change != 0 || gatetest.End(d.ChangeLow) != 0 || gatetest.End(d.ChangeHigh) != 0 {
			t.Errorf("%s: %s, want no shares", name, fmt.Sprint(d.Difference))
		}
	}
}
