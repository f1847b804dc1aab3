package layout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/wording"
)

// The first line counts the accepted and rejected runs, and reports a drift for the worse or a
// loss.
func TestRefreshLead(t *testing.T) {
	refused := []saved.Refusal{{ID: "c"}}
	for want, r := range map[string]saved.Refresh{
		"2 runs accepted":                                          {Accepted: []string{"a", "b"}},
		"1 run accepted, 1 run refused":                            {Accepted: []string{"a"}, Refused: refused},
		"1 run accepted, and the history creeps for the worse":     {Accepted: []string{"a"}, DriftFails: true},
		"0 runs accepted, 1 run refused; one phone did not answer": {Refused: refused, Lost: "one phone did not answer."},
	} {
		if got := refreshLead(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A refused run is named by its device, where that is known.
func TestRefusedRunsAreNamedByDevice(t *testing.T) {
	judged := Input{Verdict: gate.Verdict{Runs: []gate.RunVerdict{runVerdict("a1b2", gate.Regression, upgraded[0])}}}
	in := RefreshInput{Judged: &judged, Refresh: saved.Refresh{Refused: []saved.Refusal{{ID: "a1b2", Reason: "it is worse"}, {ID: "c3", Reason: "it is lost"}}}}
	if got, want := factOf(Refresh(in), "Refused"), "Google Nexus 9 (Android 5.0.0) (a1b2): it is worse\nc3: it is lost"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Ten rejected runs are listed, each with its reason, and the rest counted.
func TestRefreshRefusals(t *testing.T) {
	var r saved.Refresh
	for i := range 12 {
		r.Refused = append(r.Refused, saved.Refusal{ID: fmt.Sprint("run-", i), Reason: "it is worse"})
	}
	got := strings.Split(factOf(Refresh(RefreshInput{Refresh: r, Hint: "accept it on purpose"}), "Refused"), "\n")
	if len(got) != 11 || got[0] != "run-0: it is worse" || got[9] != "run-9: it is worse" || got[10] != "and 2 more" {
		t.Errorf("%q, want ten of twelve runs and a count of the others", got)
	}
	if got := factOf(Refresh(RefreshInput{Refresh: r, Hint: "accept it on purpose"}), "Next"); got != "accept it on purpose" {
		t.Errorf("what to do is %q", got)
	}
	if got := Refresh(RefreshInput{Refresh: r}).Facts; slices.ContainsFunc(got, func(f document.Fact) bool { return f.Label == "Next" }) {
		t.Errorf("without a hint it says %+v", got)
	}
}

// creep returns how a time per frame moved on a phone (on all of them for ""): by a tenth of 10 ms
// within the quarter, ± half as much.
func creep(scenario, model string, d gate.Direction) drift.Line {
	l := drift.Line{Scenario: scenario, Metric: ms, Direction: d, Now: 11, Runs: 8, P: 0.02,
		Creep: &drift.Shift{From: 10, Runs: 60, Shift: 1, Change: 0.1, Low: new(0.05), High: new(0.15)}}
	if model != "" {
		l.Context = map[string]string{"model": model}
	}
	return l
}

// A metric that drifts for the worse is reported for a single phone only where it does not drift on
// all of them together.
func TestRefreshReportsDriftOnce(t *testing.T) {
	const by = " moved by +10 % within the quarter (60 runs, interval +5…+15 %, p 0.02), which no single refresh need show"
	all, onA := "read: time per frame"+by, "read: time per frame on A"+by
	other := creep("read", "", gate.ToRegression)
	other.Metric = "cpu.time_ms"
	for name, c := range map[string]struct {
		lines []drift.Line
		want  string
	}{
		"on all together":           {[]drift.Line{creep("read", "", gate.ToRegression)}, all},
		"on a phone alone":          {[]drift.Line{creep("read", "A", gate.ToRegression)}, onA},
		"on a phone and on all":     {[]drift.Line{creep("read", "", gate.ToRegression), creep("read", "A", gate.ToRegression)}, all},
		"another scenario's on all": {[]drift.Line{creep("read", "A", gate.ToRegression), creep("open", "", gate.ToRegression)}, onA + "\nopen" + strings.TrimPrefix(all, "read")},
		"another metric's on all":   {[]drift.Line{creep("read", "A", gate.ToRegression), other}, onA + "\nread: CPU time" + strings.TrimPrefix(all, "read: time per frame")},
		"better on all":             {[]drift.Line{creep("read", "A", gate.ToRegression), creep("read", "", gate.ToImprovement)}, onA},
		"better on a phone":         {[]drift.Line{creep("read", "A", gate.ToImprovement)}, ""},
		"two phones":                {[]drift.Line{creep("read", "A", gate.ToRegression), creep("read", "B", gate.ToRegression)}, onA + "\n" + strings.Replace(onA, "on A", "on B", 1)},
	} {
		if got := factOf(Refresh(RefreshInput{Refresh: saved.Refresh{Drift: c.lines}}), "Creeps"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// All phones together have a table, and each phone another; an unknown value is a dash, and a
// change without an interval is shown alone.
func TestRefreshTables(t *testing.T) {
	together := creep("read", "", gate.ToRegression)
	together.SinceLast = &drift.Shift{From: 10, Shift: -0.5, Change: -0.05}
	together.SinceAll = &drift.Shift{From: 10, Shift: 1, Change: 0.1, Low: new(0.05), High: new(0.15)}
	half := creep("read", "A", gate.ToImprovement)
	half.SinceAll, half.Creep.High = &drift.Shift{From: 10, Shift: 1, Change: 0.1, Low: new(0.05)}, nil
	still := creep("read", "B", gate.None)
	still.Creep, still.P = nil, 1
	d := Refresh(RefreshInput{Refresh: saved.Refresh{Drift: []drift.Line{together, half, still}}})
	for title, want := range map[string][]string{
		"Drift": {"read: time per frame | 11.00 ms | −5 % | +10 % (+5…+15 %) | +10 % | +5…+15 % | 0.02 | creeps"},
		"Drift of each device": {
			"read: time per frame on A | 11.00 ms | – | +10 % | +10 % | – | 0.02 | improves",
			"read: time per frame on B | 11.00 ms | – | – | – | – | 1 | stands still",
		},
	} {
		if got := rowsOf(d, title); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", title, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// For a number below zero the interval counts from its distance from zero: a tenth to a fifth of 8
// ms.
func TestDriftIntervalBelowZero(t *testing.T) {
	overrun, _ := metric.Default().Lookup("frames.overrun_ms")
	got := driftInterval(overrun, drift.Shift{From: -8, Low: new(0.1), High: new(0.2)})
	if want := "+0.80…+1.60 ms"; strings.ReplaceAll(got, wording.NBSP, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
