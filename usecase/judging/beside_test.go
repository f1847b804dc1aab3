package judging

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/anrcause"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/settings"
)

// A verdict's notes: that devices were simulated, once, and how many repetitions ended by
// themselves, except those of incomplete runs.
func TestNotesOnAVerdict(t *testing.T) {
	simulated := map[string]string{devctx.Simulated: "true"}
	lost := []run.Warning{{Text: "repetition 2 is lost: the app crashed"}, {Text: "frames are few"}}
	ended := func(n string) string { return "The app or its test failed in " + n }
	for name, c := range map[string]struct {
		runs []gate.RunVerdict
		want []string
	}{
		"nothing":             {[]gate.RunVerdict{{Verdict: gate.Pass}}, nil},
		"one is simulated":    {[]gate.RunVerdict{{Context: simulated}, {}}, []string{simulatedNote}},
		"the other is":        {[]gate.RunVerdict{{}, {Context: simulated}}, []string{simulatedNote}},
		"both are":            {[]gate.RunVerdict{{Context: simulated}, {Context: simulated}}, []string{simulatedNote}},
		"a repetition ended":  {[]gate.RunVerdict{{Warnings: lost}}, []string{ended("1 repetition,")}},
		"two ended":           {[]gate.RunVerdict{{Warnings: lost}, {Warnings: lost}}, []string{ended("2 repetitions,")}},
		"of an invalid run":   {[]gate.RunVerdict{{Verdict: gate.Invalid, Warnings: lost}}, nil},
		"simulated and ended": {[]gate.RunVerdict{{Context: simulated, Warnings: lost}}, []string{simulatedNote, ended("1 repetition,")}},
	} {
		got := NotesOn(gate.Verdict{Runs: c.runs})
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if Simulated([]run.Run{{}, {}}) || !Simulated([]run.Run{{}, {Context: simulated}}) {
		t.Error("runs are simulated where one of them is")
	}
}

// A comparison is of simulated devices if either build's runs are.
func TestOnSimulatedDevices(t *testing.T) {
	on := func(simulated string) []run.Run {
		r := run.Run{ID: "r" + simulated, Scenario: "s", Status: run.Complete, Context: map[string]string{"model": "a"}, Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.duration_ms": 8}}}}
		if simulated != "" {
			r.Context[devctx.Simulated] = simulated
		}
		return []run.Run{r}
	}
	p, _ := gate.PolicyOf(gate.PresetDefault)
	set := settings.Settings{Policy: p, Catalogue: metric.Default()}
	for name, c := range map[string]struct {
		base, head []run.Run
		want       bool
	}{"neither": {on(""), on(""), false}, "the base": {on("true"), on(""), true}, "the head": {on(""), on("true"), true}} {
		in, err := Compare(c.base, c.head, set)
		if err != nil {
			t.Fatal(err)
		}
		if said := slices.Contains(in.Notes, simulatedNote); said != c.want {
			t.Errorf("%s: says that devices are simulated: %t", name, said)
		}
	}
	v := sidebyside.Verdict{Scenarios: []sidebyside.Scenario{{Contexts: []sidebyside.Context{{Context: map[string]string{"model": "a"}}}}}}
	if OnSimulatedDevices(v) {
		t.Error("a real device is called simulated")
	}
	v.Scenarios[0].Contexts[0].Context[devctx.Simulated] = "true"
	if !OnSimulatedDevices(v) {
		t.Error("a simulated device is not called so")
	}
}

// The hint after a refresh depends on what it did.
func TestRefreshHint(t *testing.T) {
	worse, broken := saved.Refusal{Verdict: gate.Regression}, saved.Refusal{Verdict: gate.Invalid}
	for name, c := range map[string]struct {
		did  saved.Refresh
		want string
	}{
		"all accepted":      {saved.Refresh{}, ""},
		"creeps":            {saved.Refresh{DriftFails: true}, "find what made the app slower"},
		"broken":            {saved.Refresh{Refused: []saved.Refusal{broken}}, "fix what ended"},
		"worse":             {saved.Refresh{Refused: []saved.Refusal{worse}}, "look at the runs"},
		"worse and broken":  {saved.Refresh{Refused: []saved.Refusal{broken, worse}}, "look at the runs"},
		"worse and creeps":  {saved.Refresh{Refused: []saved.Refusal{worse}, DriftFails: true}, "look at the runs"},
		"broken and creeps": {saved.Refresh{Refused: []saved.Refusal{broken}, DriftFails: true}, "fix what ended"},
	} {
		in := CompletedRefresh(layout.RefreshInput{Refresh: c.did}, metric.Default())
		if !strings.HasPrefix(in.Hint, c.want) || (c.want == "") != (in.Hint == "") || in.Notes != nil {
			t.Errorf("%s: %q, %q", name, in.Hint, in.Notes)
		}
	}
	if in := CompletedRefresh(layout.RefreshInput{Refresh: saved.Refresh{Simulated: true}}, nil); !slices.Equal(in.Notes, []string{simulatedNote}) {
		t.Errorf("on simulated devices: %q", in.Notes)
	}
}

// A run's energy is compared with that of the most similar runs whose joules are of the same
// source, except itself and lost ones, and of no more than needed.
func TestWhereItWentUsesTheNearestOfItsSource(t *testing.T) {
	energetic := func(id, source string) run.Run {
		return run.Run{ID: id, Scenario: "s", Context: map[string]string{metric.EnergyFrom: source}, Energy: &run.Energy{Source: source}}
	}
	var refs []run.Summary
	whole := map[string]run.Run{}
	for i := range maxCandidates + 9 {
		r := energetic(fmt.Sprint("r", i), "rails")
		switch i {
		case 0:
			r = energetic("r0", "battery")
		case 1:
			r.ID = "now"
		}
		refs = append(refs, run.Summary{ID: r.ID, Context: r.Context})
		whole[r.ID] = r
	}
	delete(whole, "r2")
	asked := 0
	past := Past{whole: func(id string) (run.Run, error) {
		asked++
		if r, ok := whole[id]; ok {
			return r, nil
		}
		return run.Run{}, fmt.Errorf("%s: %w", id, runstore.ErrNotFound)
	}}
	now := energetic("now", "rails")
	base, err := past.withEnergy(now, refs)
	if err != nil || len(base) != maxCandidates || base[0].ID != "r3" || asked != maxCandidates+1 {
		t.Errorf("%d runs, the first %s, of %d asked for: %v", len(base), base[0].ID, asked, err)
	}
	change, err := past.whereItWent(now, refs)
	if err != nil || change == nil || change.Run != "now" || slices.Contains(change.Base, "r0") || !slices.Contains(change.Base, "r3") {
		t.Errorf("%+v, %v", change, err)
	}
	if change, err := past.whereItWent(run.Run{ID: "now"}, refs); change != nil || err != nil {
		t.Errorf("without energy: %+v, %v", change, err)
	}
	broken := Past{whole: func(string) (run.Run, error) { return run.Run{}, errors.New("disk on fire") }}
	if _, err := broken.whereItWent(now, refs); err == nil || !strings.Contains(err.Error(), "ask the history for run r2: disk on fire") {
		t.Errorf("a history that fails: %v", err)
	}
	if changes := besideBase([]run.Run{energetic("b", "rails")}, []run.Run{now, {ID: "none"}}); len(changes) != 1 || changes[0].Run != "now" {
		t.Errorf("beside the base: %+v", changes)
	}
}

// The most similar runs are returned, up to the limit, and never the run itself.
func TestNearest(t *testing.T) {
	refs := []run.Summary{{ID: "now"}}
	for i := range mostCandidates + 5 {
		refs = append(refs, run.Summary{ID: fmt.Sprint("r", i)})
	}
	got := nearest(run.Run{ID: "now"}, refs)
	if len(got) != mostCandidates || got[0] != "r0" || slices.Contains(got, "now") {
		t.Errorf("%q", got)
	}
}

// Rounds drop earlier causes of what is no longer flagged, except for what did not respond, and add
// those of each run.
func TestSettledDropsOldCauses(t *testing.T) {
	in := layout.Input{Causes: []diagnose.Cause{
		{Run: "a", Event: "scroll", Metric: "frames.duration_ms", Kind: "flagged"},
		{Run: "a", Event: "tap", Metric: "frames.duration_ms", Kind: "another event"},
		{Run: "a", Event: "scroll", Metric: "cpu.time_ms", Kind: "another metric"},
		{Run: "a", Event: "tap", Metric: "cpu.time_ms", Kind: anrcause.LockKind},
		{Run: "b", Event: "scroll", Metric: "frames.duration_ms", Kind: "another run"},
	}}
	flagged := []gate.Comparison{{Event: "scroll", Metric: "frames.duration_ms", Direction: gate.Suspect}}
	in.Verdict.Runs = []gate.RunVerdict{{ID: "a", Deviations: flagged}, {ID: "b"}}
	frames := run.Run{Frames: &run.Frames{}}
	for name, rounds := range map[string]map[int]Rounds{
		"no rounds": nil, "rounds without frames": {0: {}}, "the base has none": {0: {Head: frames}}, "the head has none": {0: {Base: frames}},
	} {
		var got []string
		for _, c := range Settled(in, rounds, nil) {
			got = append(got, c.Run+" "+c.Kind)
		}
		if want := []string{"a flagged", "a " + anrcause.LockKind}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	in.Verdict.Runs = []gate.RunVerdict{{ID: "b", Deviations: []gate.Comparison{}}}
	if got := Settled(in, map[int]Rounds{0: {Base: frames, Head: frames}}, nil); len(got) != 0 {
		t.Errorf("nothing is flagged, and explained by %+v", got)
	}
}
