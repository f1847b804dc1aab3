package judging

import (
	"math"
	"slices"
	"strconv"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/calls"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

// Regressed is what got worse in one scenario on one device, of frames, tasks or energy, as far as
// a recording can explain it.
type Regressed struct {
	// Run is the run of the verdict, or the head's run of a comparison.
	Run      string
	Scenario string
	Context  map[string]string
	Found    []diagnose.Finding
	// Frames and Energy report which of the two is unexplained; frames include tasks, which the
	// same recording shows.
	Frames, Energy bool
	// worst is the largest change, by which one device of a scenario is chosen.
	worst float64
}

// firstTraced is the API level of the first Android on which Perfetto records.
const firstTraced = 29

// Untraced reports whether the device's Android is too old to record.
func (r Regressed) Untraced() bool {
	api, err := strconv.Atoi(r.Context["api"])
	return err == nil && api < firstTraced
}

// Open reports whether something is unexplained.
func (r Regressed) Open() bool { return r.Frames || r.Energy }

// add adds a finding.
func (r *Regressed) add(event, name string, change float64) {
	switch {
	case strings.HasPrefix(name, "frames."), strings.HasPrefix(name, "tasks."), name == "events.settled_ms":
		r.Frames = true
	case strings.HasPrefix(name, "energy."):
		r.Energy = true
	default:
		return
	}
	r.Found = append(r.Found, diagnose.Finding{Event: event, Metric: name, Direction: gate.ToRegression})
	r.worst = max(r.worst, math.Abs(change))
}

// Anew returns what got worse with nothing of it explained.
func (r Regressed) Anew() Regressed {
	out := Regressed{Run: r.Run, Scenario: r.Scenario, Context: r.Context}
	for _, f := range r.Found {
		out.add(f.Event, f.Metric, 0)
	}
	return out
}

// RegressedIn returns the regressions of a verdict that a recording can explain, one for each
// scenario: on the device with the largest change, of those that can record. What causes explain
// already, on any device, is not open.
func RegressedIn(in layout.Input) []Regressed {
	var all []Regressed
	for _, v := range in.Verdict.Runs {
		if v.Verdict != gate.Regression {
			continue
		}
		r := Regressed{Run: v.ID, Scenario: v.Scenario, Context: v.Context}
		for _, d := range v.Deviations {
			if d.Direction == gate.ToRegression {
				r.add(d.Event, d.Metric, d.Change)
			}
		}
		all = append(all, r)
	}
	return foremost(all, in.Causes, in.Energy)
}

// RegressedBuild is RegressedIn of a comparison of two builds; head are the head's runs.
func RegressedBuild(in layout.ComparisonInput, head []run.Run) []Regressed {
	var all []Regressed
	for _, s := range in.Verdict.Scenarios {
		if s.Verdict != gate.Regression {
			continue
		}
		for _, h := range head {
			if h.Scenario == s.Scenario && len(s.Contexts) > 0 {
				all = append(all, regressedOn(s, h))
			}
		}
	}
	return foremost(all, in.Causes, in.Energy)
}

// regressedOn returns what got worse in a scenario, with the change in the context that is most
// like the run's.
func regressedOn(s sidebyside.Scenario, head run.Run) Regressed {
	place, most := 0, -1
	for i, c := range s.Contexts {
		if n := devctx.Shared(c.Context, head.Context, nil); n > most {
			place, most = i, n
		}
	}
	r := Regressed{Run: head.ID, Scenario: s.Scenario, Context: head.Context}
	for _, c := range s.Comparisons {
		here := c.Difference
		for _, x := range c.Contexts {
			if x.Context == place {
				here = x.Difference
			}
		}
		if c.Direction == gate.ToRegression {
			r.add(c.Event, c.Metric, here.Change)
		}
	}
	return r
}

// foremost keeps one of each scenario, and sets what of it is explained.
func foremost(all []Regressed, causes []diagnose.Cause, energy []hotspots.Change) (out []Regressed) {
	for _, r := range all {
		if len(r.Found) == 0 {
			continue
		}
		at := slices.IndexFunc(out, func(o Regressed) bool { return o.Scenario == r.Scenario })
		switch {
		case at < 0:
			out = append(out, r)
		case out[at].Untraced() && !r.Untraced(), out[at].Untraced() == r.Untraced() && r.worst > out[at].worst:
			out[at] = r
		}
	}
	for i, r := range out {
		its := func(id string) bool {
			return slices.ContainsFunc(all, func(o Regressed) bool { return o.Run == id && o.Scenario == r.Scenario })
		}
		out[i].Frames = r.Frames && !slices.ContainsFunc(causes, func(c diagnose.Cause) bool {
			family := diagnose.KindOf(c.Kind).Family.Name
			return its(c.Run) && (family == jankcause.Family.Name || family == queueing.Family.Name)
		})
		out[i].Energy = r.Energy && !slices.ContainsFunc(energy, func(c hotspots.Change) bool {
			_, encloses := c.Enclosing()
			return its(c.Run) && c.HasBase() && (encloses || len(c.Explaining()) > 0)
		})
	}
	return out
}

// Recorded returns what rounds of both builds, recorded after the verdict, show on what got worse:
// causes, and where the energy went.
func Recorded(r Regressed, rounds Rounds, problems []calls.Problem) (causes []diagnose.Cause, energy []hotspots.Change) {
	rounds.Head.ID, rounds.Head.Explains, rounds.Base.Explains = r.Run, true, true
	causes = rounds.explain(r.Found, problems)
	if change, ok := hotspots.Explain(rounds.Head, []run.Run{rounds.Base}); ok && change.HasBase() && change.Methods != nil {
		energy = append(energy, change)
	}
	return causes, energy
}

// Replaced returns the known causes, with newer ones replacing those of the same run and family.
func Replaced(known, newer []diagnose.Cause) []diagnose.Cause {
	out := slices.DeleteFunc(slices.Clone(known), func(c diagnose.Cause) bool {
		return slices.ContainsFunc(newer, func(n diagnose.Cause) bool {
			return n.Run == c.Run && diagnose.KindOf(n.Kind).Family.Name == diagnose.KindOf(c.Kind).Family.Name
		})
	})
	return append(out, newer...)
}

// WithRecorded returns the known changes of energy, with the methods found in rounds recorded after
// the verdict: how much changed stays as it was judged.
func WithRecorded(known, recorded []hotspots.Change) []hotspots.Change {
	out := slices.Clone(known)
	for _, c := range recorded {
		at := slices.IndexFunc(out, func(o hotspots.Change) bool { return o.Run == c.Run && o.Source == c.Source })
		if at < 0 {
			out = append(out, c)
			continue
		}
		out[at].Methods = c.Methods
		if !out[at].HasBase() {
			out[at] = c
		}
	}
	return out
}
