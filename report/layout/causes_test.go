package layout

import (
	"maps"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/run"
)

// The cause is among the first lines, before any table.
func TestCauseComesFirst(t *testing.T) {
	base, held := heldAwake()
	radio := baseJoules()
	radio.ID, radio.Iterations[0].Metrics["energy.total_j"] = "H1", 15.4
	radio.Energy.Components[2].EnergyJ += 3
	unsampled := radio
	e := *radio.Energy
	e.Methods = nil
	unsampled.Energy = &e
	for name, c := range map[string]struct {
		change hotspots.Change
		want   string
	}{
		"a method":   {explain(headJoules(), baseJoules()), "com.example.mail.MessageView.decode +2.1 J (+350 %), 70 % of the change; called from Inbox.open"},
		"a wakelock": {explain(held, base), "wakelock SyncService was held 9 min 58 s while the screen was off; before: none"},
		"a radio":    {explain(radio, baseJoules()), "the part wifi +3.0 J, which no method explains"},
		"traffic": {explain(traffic(radio, 9_216_000, 307_200), traffic(baseJoules(), 100_000, 3_000)),
			"the part wifi +3.0 J, which no method explains; the app received and sent 9.52 MB, before 103 kB"},
		"no methods": {explain(unsampled, baseJoules()), "the part wifi +3.0 J"},
	} {
		got := markdownOfInput(t, judged(gate.ToRegression, c.change))
		if err := inOrder(got, "**Energy cause:** "+c.want+"\n", "| What |"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := markdownOfInput(t, judged(gate.None, explain(headJoules(), baseJoules()))); strings.Contains(got, "Energy cause") {
		t.Errorf("a pass has a cause:\n%s", got)
	}
}

// Unchanged joules are not reported as a change because a wakelock was held.
func TestWakelockWithoutCost(t *testing.T) {
	base, head := heldAwake()
	head.Iterations[0].Metrics["energy.total_j"] = 12.5
	in := judged(gate.None, explain(head, base))
	r := &in.Verdict.Runs[0]
	in.Verdict.Verdict, r.Verdict = gate.Regression, gate.Regression
	r.Deviations = []gate.Comparison{compared("", "wakelock.time_ms", 0, 0, 600_000, gate.ToRegression)}
	got := textOfInput(t, in, document.Options{Verbose: true})
	if err := inOrder(got, "12.5 J per repetition, 0.021 % of the battery;", "Wakelock SyncService was held"); err != nil {
		t.Error(err)
	}
	if strings.Contains(got, "clear enough") || strings.Contains(got, "do not explain") || strings.Contains(got, " more (") {
		t.Errorf("a change of joules is told that there was not:\n%s", got)
	}
}

// A wakelock that is no longer held explains why less energy is used.
func TestWakelockNoLongerHeld(t *testing.T) {
	base, head := heldAwake()
	base.Energy.Wakelocks, head.Energy.Wakelocks = head.Energy.Wakelocks, nil
	base.Iterations, head.Iterations = head.Iterations, base.Iterations
	in := judged(gate.ToImprovement, explain(head, base))
	r := &in.Verdict.Runs[0]
	r.Deviations = append(r.Deviations, compared("", "wakelock.time_ms", 600_000, 0, 0, gate.ToImprovement))
	const want = "wakelock SyncService was held 9 min 58 s while the screen was off; now: none"
	if err := inOrder(markdownOfInput(t, in), "**Energy cause:** "+want+"\n", "- W"+want[1:]+"."); err != nil {
		t.Error(err)
	}
}

// Of runs that got worse, one with a known cause comes first.
func TestRunWithCauseComesFirst(t *testing.T) {
	dumb, telling := headJoules(), headJoules()
	dumb.Energy.Methods, dumb.Energy.Components = nil, nil
	dumb.Iterations[0].Metrics["energy.total_j"] = 17
	telling.ID = "H2"
	got := markdownOfInput(t, judged(gate.ToRegression, explain(dumb, baseJoules()), explain(telling, baseJoules())))
	if err := inOrder(got, "**Energy cause:** com.example.mail.MessageView.decode", "**Energy:** Google Emulator 2 (Android 14): 15.6 J"); err != nil {
		t.Error(err)
	}
}

// traffic returns the run with bytes received and sent.
func traffic(r run.Run, received, sent float64) run.Run {
	metrics := maps.Clone(r.Iterations[0].Metrics)
	metrics["network.rx_bytes"], metrics["network.tx_bytes"] = received, sent
	r.Iterations = []run.Iteration{{Metrics: metrics}}
	return r
}

// Traffic that changed in the other direction, or by almost nothing, explains no joules.
func TestUnrelatedTraffic(t *testing.T) {
	for _, c := range []struct{ base, head float64 }{{9e6, 1e6}, {9e6, 9.5e6}, {1_000, 90_000}} {
		in := judged(gate.ToRegression, explain(traffic(headJoules(), c.head, 0), traffic(baseJoules(), c.base, 0)))
		if got := textOfInput(t, in, document.Options{}); strings.Contains(got, "received") {
			t.Errorf("%g and %g bytes are told as a reason:\n%s", c.base, c.head, got)
		}
	}
}

// For energy the causes of the first 20 runs are saved, whose change is saved too; for other kinds
// all.
func TestSavedCausesOfEnergy(t *testing.T) {
	var e explained
	for _, family := range []string{hotspots.Family.Name, "sky"} {
		section := diagnose.Section{Family: diagnose.Family{Name: family}}
		for range 22 {
			section.Runs = append(section.Runs, diagnose.Explanation{Causes: []diagnose.Cause{{Kind: family}}})
		}
		e.Sections = append(e.Sections, section)
	}
	saved := map[string]int{}
	for _, c := range e.causes() {
		saved[c.Kind]++
	}
	if saved[hotspots.Family.Name] != 20 || saved["sky"] != 22 {
		t.Errorf("saved are %v, want 20 of 22 of energy and all others", saved)
	}
}
