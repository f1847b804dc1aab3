package judging_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/anrcause"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/judging"
)

const (
	frameTime = "frames.duration_ms"
	joules    = "energy.total_j"
)

// got is a number of the whole run that got worse by a share.
func got(metric string, change float64) gate.Comparison {
	return gate.Comparison{Metric: metric, Direction: gate.ToRegression, Change: change}
}

// worseRun is a run of a verdict, "SCENARIO DEVICE", on Android of that API level.
func worseRun(id, api string, deviations ...gate.Comparison) gate.RunVerdict {
	scenario, _, _ := strings.Cut(id, " ")
	return gate.RunVerdict{ID: id, Scenario: scenario, Verdict: gate.Regression, Context: map[string]string{"api": api}, Deviations: deviations}
}

// describe formats each of them: its run, which numbers were found, and what is open.
func describe(all []judging.Regressed) string {
	var out []string
	for _, r := range all {
		text := r.Run
		for _, f := range r.Found {
			text += " " + f.Metric
		}
		if r.Frames {
			text += ", frames open"
		}
		if r.Energy {
			text += ", energy open"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// One run of each scenario is recorded: where frames or joules got worse the most, on a device that
// can record (Android 10 and later).
func TestRegressedIn(t *testing.T) {
	suspect := gate.Comparison{Metric: joules, Direction: gate.Suspect, Change: 0.5}
	passed := worseRun("read a", "34", got(frameTime, 0.2))
	passed.Verdict = gate.Inconclusive
	for name, c := range map[string]struct {
		runs []gate.RunVerdict
		want string
	}{
		"nothing is worse":               {[]gate.RunVerdict{passed}, ""},
		"what no recording explains":     {[]gate.RunVerdict{worseRun("read a", "34", got("cpu.time_ms", 0.2))}, ""},
		"an event's own time":            {[]gate.RunVerdict{worseRun("read a", "34", got("events.settled_ms", 0.2))}, "read a events.settled_ms, frames open"},
		"a doubt is no regression":       {[]gate.RunVerdict{worseRun("read a", "34", got(frameTime, 0.2), suspect)}, "read a frames.duration_ms, frames open"},
		"frames and joules":              {[]gate.RunVerdict{worseRun("read a", "34", got(frameTime, 0.2), got(joules, 0.1))}, "read a frames.duration_ms energy.total_j, frames open, energy open"},
		"the largest of a scenario":      {[]gate.RunVerdict{worseRun("read a", "34", got(frameTime, 0.2)), worseRun("read b", "34", got(frameTime, 0.1), got("frames.smooth_ratio", -0.5))}, "read b frames.duration_ms frames.smooth_ratio, frames open"},
		"the largest comes first":        {[]gate.RunVerdict{worseRun("read a", "34", got(frameTime, 0.2)), worseRun("read b", "34", got(frameTime, 0.1))}, "read a frames.duration_ms, frames open"},
		"the largest can't be recorded":  {[]gate.RunVerdict{worseRun("read a", "28", got(frameTime, 0.4)), worseRun("read b", "29", got(frameTime, 0.2))}, "read b frames.duration_ms, frames open"},
		"the later can't be recorded":    {[]gate.RunVerdict{worseRun("read a", "29", got(frameTime, 0.2)), worseRun("read b", "28", got(frameTime, 0.4))}, "read a frames.duration_ms, frames open"},
		"none can be recorded":           {[]gate.RunVerdict{worseRun("read a", "28", got(frameTime, 0.2)), worseRun("read b", "28", got(frameTime, 0.4))}, "read b frames.duration_ms, frames open"},
		"an API that is not known":       {[]gate.RunVerdict{worseRun("read a", "", got(frameTime, 0.2)), worseRun("read b", "28", got(frameTime, 0.4))}, "read a frames.duration_ms, frames open"},
		"each scenario":                  {[]gate.RunVerdict{worseRun("read a", "34", got(frameTime, 0.2)), worseRun("write a", "34", got(joules, 0.4))}, "read a frames.duration_ms, frames open; write a energy.total_j, energy open"},
		"what is worse of one run alone": {[]gate.RunVerdict{worseRun("read a", "34", got("cpu.time_ms", 0.9)), worseRun("read b", "34", got(joules, 0.1))}, "read b energy.total_j, energy open"},
	} {
		all := judging.RegressedIn(layout.Input{Verdict: gate.Verdict{Runs: c.runs}})
		if describe(all) != c.want {
			t.Errorf("%s: %q, want %q", name, describe(all), c.want)
		}
		for _, r := range all {
			if anew := r.Anew(); !r.Open() || !anew.Open() || describe([]judging.Regressed{anew}) != describe([]judging.Regressed{r}) {
				t.Errorf("%s: anew it is %q", name, describe([]judging.Regressed{anew}))
			}
		}
	}
}

// methods is a change of energy with one method, with or without base runs.
func methods(id string, method hotspots.Method, base ...string) hotspots.Change {
	return hotspots.Change{Run: id, Source: "rails", Base: base, Methods: &hotspots.Methods{List: []hotspots.Method{method}}}
}

// What a cause explains already, on any device of the scenario, is not open; causes of another
// scenario, of what did not respond, or without base runs, explain nothing of it.
func TestRegressedInIsOpen(t *testing.T) {
	explains, encloses, neither := hotspots.Method{Name: "a", Explains: true}, hotspots.Method{Name: "a", Encloses: true}, hotspots.Method{Name: "a"}
	for name, c := range map[string]struct {
		causes []diagnose.Cause
		energy []hotspots.Change
		want   string
	}{
		"nothing is explained":        {nil, nil, "frames open, energy open"},
		"its frames are":              {[]diagnose.Cause{{Run: "read b", Kind: jankcause.BinderKind}}, nil, "energy open"},
		"those of the other device":   {[]diagnose.Cause{{Run: "read a", Kind: jankcause.BinderKind}}, nil, "energy open"},
		"those of another scenario":   {[]diagnose.Cause{{Run: "write a", Kind: jankcause.BinderKind}}, nil, "frames open, energy open"},
		"those of another run":        {[]diagnose.Cause{{Run: "unknown", Kind: jankcause.BinderKind}}, nil, "frames open, energy open"},
		"an ANR":                      {[]diagnose.Cause{{Run: "read b", Kind: anrcause.LockKind}}, nil, "frames open, energy open"},
		"a method explains":           {nil, []hotspots.Change{methods("read b", explains, "old")}, "frames open"},
		"a method encloses it":        {nil, []hotspots.Change{methods("read a", encloses, "old")}, "frames open"},
		"no method does":              {nil, []hotspots.Change{methods("read b", neither, "old")}, "frames open, energy open"},
		"beside nothing":              {nil, []hotspots.Change{methods("read b", explains)}, "frames open, energy open"},
		"energy of another scenario":  {nil, []hotspots.Change{methods("write a", explains, "old")}, "frames open, energy open"},
		"energy enclosed, of another": {nil, []hotspots.Change{methods("write a", encloses, "old")}, "frames open, energy open"},
		"both":                        {[]diagnose.Cause{{Run: "read b", Kind: jankcause.GPUKind}}, []hotspots.Change{methods("read b", explains, "old")}, ""},
	} {
		in := layout.Input{Causes: c.causes, Energy: c.energy}
		in.Verdict.Runs = []gate.RunVerdict{
			worseRun("read a", "34", got(frameTime, 0.1), got(joules, 0.1)), worseRun("read b", "34", got(frameTime, 0.2), got(joules, 0.2)), worseRun("write a", "34", got("cpu.time_ms", 0.2)),
		}
		all := judging.RegressedIn(in)
		want := strings.TrimSuffix("read b frames.duration_ms energy.total_j, "+c.want, ", ")
		if describe(all) != want || all[0].Open() != (c.want != "") {
			t.Errorf("%s: %q, want %q", name, describe(all), want)
		}
	}
}

// Of two builds the head's run is recorded on the device with the largest change.
func TestRegressedBuild(t *testing.T) {
	one, two := map[string]string{"model": "One", "api": "34"}, map[string]string{"model": "Two", "api": "34"}
	head := []run.Run{{ID: "one", Scenario: "read", Context: one}, {ID: "two", Scenario: "read", Context: two}}
	number := func(direction gate.Direction, together float64, each ...float64) sidebyside.Comparison {
		c := sidebyside.Comparison{Metric: frameTime, Direction: direction, Difference: sidebyside.Difference{Change: together}}
		for i, x := range each {
			c.Contexts = append(c.Contexts, sidebyside.ContextDifference{Context: i, Difference: sidebyside.Difference{Change: x}})
		}
		return c
	}
	contexts := []sidebyside.Context{{Context: one}, {Context: two}}
	for name, c := range map[string]struct {
		of   sidebyside.Scenario
		want string
	}{
		"the second device": {sidebyside.Scenario{Scenario: "read", Verdict: gate.Regression, Contexts: contexts, Comparisons: []sidebyside.Comparison{number(gate.ToRegression, 0.2, 0.1, 0.3)}}, "two frames.duration_ms, frames open"},
		"the first device":  {sidebyside.Scenario{Scenario: "read", Verdict: gate.Regression, Contexts: contexts, Comparisons: []sidebyside.Comparison{number(gate.ToRegression, 0.2, 0.3, 0.1)}}, "one frames.duration_ms, frames open"},
		"both together":     {sidebyside.Scenario{Scenario: "read", Verdict: gate.Regression, Contexts: contexts[:1], Comparisons: []sidebyside.Comparison{number(gate.ToRegression, 0.2)}}, "one frames.duration_ms, frames open"},
		"not worse":         {sidebyside.Scenario{Scenario: "read", Verdict: gate.Regression, Contexts: contexts, Comparisons: []sidebyside.Comparison{number(gate.Suspect, 0.2, 0.3, 0.1)}}, ""},
		"a pass":            {sidebyside.Scenario{Scenario: "read", Verdict: gate.Pass, Contexts: contexts, Comparisons: []sidebyside.Comparison{number(gate.ToRegression, 0.2, 0.3, 0.1)}}, ""},
		"another scenario":  {sidebyside.Scenario{Scenario: "write", Verdict: gate.Regression, Contexts: contexts, Comparisons: []sidebyside.Comparison{number(gate.ToRegression, 0.2, 0.3, 0.1)}}, ""},
		"no device of both": {sidebyside.Scenario{Scenario: "read", Verdict: gate.Regression, Comparisons: []sidebyside.Comparison{number(gate.ToRegression, 0.2)}}, ""},
	} {
		in := layout.ComparisonInput{Verdict: sidebyside.Verdict{Scenarios: []sidebyside.Scenario{c.of}}}
		if got := describe(judging.RegressedBuild(in, head)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// sampled is a run with the joules of one method, in two repetitions.
func sampled(r run.Run, j float64) run.Run {
	r.Energy = &run.Energy{Source: "rails", Methods: &run.Methods{Event: "task-clock", SampleHz: 1000, Samples: 1000, CPUMS: 500, EnergyJ: j, Level: 0.95, List: []run.Method{{Name: "com.example.mail.Sync.run", Local: run.Cost{Samples: 1000, EnergyJ: j}}}}}
	return r
}

// Recorded rounds add to the run of the verdict, with their basis. Frames are explained if both
// builds record them, energy if methods were sampled.
func TestRecorded(t *testing.T) {
	regressed := judging.RegressedIn(layout.Input{Verdict: gate.Verdict{Runs: []gate.RunVerdict{
		worseRun("read a", "34", gate.Comparison{Event: "scroll", Metric: "frames.smooth_ratio", Direction: gate.ToRegression, Change: -0.2}),
	}}})[0]
	base, head := sampled(scrolled(0, time.Millisecond), 1), sampled(scrolled(1, 30*time.Millisecond), 2)
	causes, energy := judging.Recorded(regressed, judging.Rounds{Base: base, Head: head}, nil)
	at := slices.IndexFunc(causes, func(c diagnose.Cause) bool { return c.Kind == jankcause.BinderKind })
	if at < 0 || causes[at].Run != "read a" || !strings.HasSuffix(said(causes[at]), " of the base build, recorded after the verdict") {
		t.Errorf("%q, want the call, beside recorded rounds", saidAll(causes))
	}
	if len(energy) != 1 || energy[0].Run != "read a" || !slices.Equal(energy[0].Base, []string{base.ID}) {
		t.Errorf("%+v, want the energy of the run's methods beside the base's", energy)
	}
	for name, c := range map[string]struct {
		change         func(base, head *run.Run)
		causes, energy bool
	}{
		"the base tells of no frames": {func(b, _ *run.Run) { b.Frames = nil }, false, true},
		"the head tells of none":      {func(_, h *run.Run) { h.Frames = nil }, false, true},
		"no methods":                  {func(_, h *run.Run) { h.Energy.Methods = nil }, true, false},
		"no energy":                   {func(_, h *run.Run) { h.Energy = nil }, true, false},
		"no base of its joules":       {func(b, _ *run.Run) { b.Energy.Source = "battery" }, true, false},
	} {
		base, head := sampled(scrolled(0, time.Millisecond), 1), sampled(scrolled(1, 30*time.Millisecond), 2)
		c.change(&base, &head)
		causes, energy := judging.Recorded(regressed, judging.Rounds{Base: base, Head: head}, nil)
		if len(causes) > 0 != c.causes || len(energy) > 0 != c.energy {
			t.Errorf("%s: %d causes and %d changes", name, len(causes), len(energy))
		}
	}
}

// Causes of recorded rounds replace those of the same run and family.
func TestReplaced(t *testing.T) {
	known := []diagnose.Cause{{Run: "a", Kind: jankcause.GPUKind}, {Run: "a", Kind: anrcause.LockKind}, {Run: "b", Kind: jankcause.GPUKind}}
	var got []string
	for _, c := range judging.Replaced(known, []diagnose.Cause{{Run: "a", Kind: jankcause.BinderKind}}) {
		got = append(got, c.Run+" "+c.Kind)
	}
	if want := []string{"a anr.lock", "b render.gpu", "a render.binder"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(known) != 3 || known[0].Kind != jankcause.GPUKind {
		t.Errorf("what was known is changed: %+v", known)
	}
}

// How much energy changed stays as it was judged; recorded rounds add which methods took it.
func TestWithRecorded(t *testing.T) {
	judged := hotspots.Change{Run: "a", Source: "rails", Base: []string{"old"}, Total: hotspots.Amount{BaseJ: 10, HeadJ: 12}}
	alone := hotspots.Change{Run: "b", Source: "rails", Total: hotspots.Amount{HeadJ: 12}}
	recorded := func(id, source string) hotspots.Change {
		c := methods(id, hotspots.Method{Name: "Sync.run", Explains: true}, "base")
		c.Source, c.Total = source, hotspots.Amount{BaseJ: 100, HeadJ: 130}
		return c
	}
	for name, c := range map[string]struct {
		recorded hotspots.Change
		want     string // each change: its run, its joules, and how many methods it has
	}{
		"of a run that was judged":      {recorded("a", "rails"), "a 10 12 1, b 0 12 0"},
		"of one that had no base":       {recorded("b", "rails"), "a 10 12 0, b 100 130 1"},
		"of a run that was not":         {recorded("c", "rails"), "a 10 12 0, b 0 12 0, c 100 130 1"},
		"of joules from another source": {recorded("a", "battery"), "a 10 12 0, b 0 12 0, a 100 130 1"},
	} {
		var got []string
		known := []hotspots.Change{judged, alone}
		for _, x := range judging.WithRecorded(known, []hotspots.Change{c.recorded}) {
			n := 0
			if x.Methods != nil {
				n = len(x.Methods.List)
			}
			got = append(got, fmt.Sprint(x.Run, " ", x.Total.BaseJ, " ", x.Total.HeadJ, " ", n))
		}
		if strings.Join(got, ", ") != c.want || known[0].Methods != nil {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
