package judging

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/anrcause"
	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
)

// Frames and tasks are compared with those of so many runs of the history, which are searched among
// so many of the most similar ones.
const (
	sectionsBase       = 5
	sectionsCandidates = 20
)

// bySections explains findings on a run by its frames and its tasks.
func bySections(head run.Run, base []run.Run, found []diagnose.Finding) []diagnose.Cause {
	return append(jankcause.Explain(head, base, found), queueing.Explain(head, base, found)...)
}

// inBoth reports whether two runs have frames, or tasks, that can be compared.
func inBoth(a, b run.Run) bool {
	return a.Frames != nil && b.Frames != nil || a.Tasks != nil && b.Tasks != nil
}

// nearest returns the ids of the most similar runs, except a run's own.
func nearest(r run.Run, refs []run.Summary) []string {
	var out []string
	for _, ref := range refs {
		if ref.ID != r.ID && len(out) < sectionsCandidates {
			out = append(out, ref.ID)
		}
	}
	return out
}

// why explains a verdict's findings on runs by their frames and tasks, and whatever did not respond in them.
// near are the most similar runs of the history for each.
func (p Past) why(runs []run.Run, v gate.Verdict, near [][]string) ([]diagnose.Cause, error) {
	found := map[string][]diagnose.Finding{}
	for _, r := range v.Runs {
		found[r.ID] = findingsOf(r)
	}
	var out []diagnose.Cause
	whole := map[string]*run.Run{} // of the history, as far as they were read
	stood := map[string]*anrcause.History{}
	for i, r := range runs {
		if (r.Frames != nil || r.Tasks != nil) && len(found[r.ID]) > 0 {
			base, err := p.withSections(near[i], whole)
			if err != nil {
				return nil, err
			}
			out = append(out, bySections(r, base, found[r.ID])...)
		}
		if len(r.ANRs) == 0 {
			continue
		}
		if stood[r.App.Package] == nil {
			past, err := p.anrs(r.App.Package)
			if err != nil {
				return nil, exit.Infrastructure(fmt.Errorf("ask the history for what did not respond in %s: %w", r.App.Package, err))
			}
			stood[r.App.Package] = anrcause.Over(past)
		}
		out = append(out, stood[r.App.Package].Explain(r, found[r.ID])...)
	}
	return out, nil
}

// findingsOf returns a verdict's findings on a run. Suspicions are explained as well: rounds may
// still settle them, and if they don't, the causes help.
func findingsOf(r gate.RunVerdict) (out []diagnose.Finding) {
	for _, d := range r.Deviations {
		f := diagnose.Finding{Event: d.Event, Metric: d.Metric, Direction: d.Direction}
		if f.Direction == gate.Suspect {
			f.Direction = gate.ToRegression
		}
		out = append(out, f)
	}
	return out
}

// Rounds are both builds' runs of what was measured in turns for one run of a verdict.
type Rounds struct{ Base, Head run.Run }

// Settled explains a verdict that rounds have settled, by where both builds' frames and tasks spent
// their time in turns, if known. rounds are keyed by the runs' places. Earlier causes of comparisons that
// are no longer flagged are dropped.
func Settled(in layout.Input, rounds map[int]Rounds) []diagnose.Cause {
	var out []diagnose.Cause
	for i, v := range in.Verdict.Runs {
		found := findingsOf(v)
		var anew []diagnose.Cause
		if r, ok := rounds[i]; ok && inBoth(r.Base, r.Head) && len(found) > 0 {
			r.Head.ID = v.ID
			anew = bySections(r.Head, []run.Run{r.Base}, found)
		}
		for _, c := range in.Causes {
			family := diagnose.KindOf(c.Kind).Family.Name
			flagged := slices.ContainsFunc(found, func(f diagnose.Finding) bool { return f.Event == c.Event && f.Metric == c.Metric })
			if c.Run == v.ID && (family == anrcause.Family.Name || anew == nil && flagged) {
				out = append(out, c)
			}
		}
		out = append(out, anew...)
	}
	return out
}

// withSections returns the first of these runs that record where the time of frames or tasks went.
// Runs that the history has lost since are skipped.
func (p Past) withSections(ids []string, known map[string]*run.Run) (base []run.Run, err error) {
	for _, id := range ids {
		if _, asked := known[id]; !asked {
			one, err := p.whole(id)
			switch {
			case errors.Is(err, runstore.ErrNotFound):
				known[id] = nil
			case err != nil:
				return nil, exit.Infrastructure(fmt.Errorf("ask the history for run %s: %w", id, err))
			default:
				known[id] = sectionsOf(one)
			}
		}
		if r := known[id]; r != nil {
			if base = append(base, *r); len(base) == sectionsBase {
				break
			}
		}
	}
	return base, nil
}

// sectionsOf returns what of a run frames and tasks can be explained by, nil if it records neither.
func sectionsOf(r run.Run) *run.Run {
	if r.Frames == nil && r.Tasks == nil {
		return nil
	}
	out := &run.Run{ID: r.ID, Started: r.Started, App: r.App, Scenario: r.Scenario, Context: r.Context, Frames: r.Frames, Tasks: r.Tasks}
	if r.Tasks != nil { // tasks are compared with the times of events
		for _, it := range r.Iterations {
			it.Frames = nil
			out.Iterations = append(out.Iterations, it)
		}
	}
	return out
}

// PastOf converts an entry of a history to what ANRs are compared with.
func PastOf(e runstore.ANRRun) anrcause.Past {
	return anrcause.Past{Run: e.ID, Started: e.Started, Session: e.Session, Scenario: e.Scenario, Version: e.Version, Commit: e.Commit, State: string(e.State), ANRs: e.ANRs}
}

// whyBesideBase explains a comparison's findings for each of the head's runs, compared with similar
// runs of the base.
func whyBesideBase(v sidebyside.Verdict, base, head []run.Run) []diagnose.Cause {
	found := map[string][]diagnose.Finding{}
	for _, s := range v.Scenarios {
		for _, d := range s.Comparisons {
			if d.Direction != gate.None {
				found[s.Scenario] = append(found[s.Scenario], diagnose.Finding{Event: d.Event, Metric: d.Metric, Direction: d.Direction})
			}
		}
	}
	var past []anrcause.Past
	for _, r := range base {
		if len(r.ANRs) > 0 {
			one := PastOf(runstore.ANRsOf(runstore.Entry{Run: r}))
			one.Base = true
			past = append(past, one)
		}
	}
	stood := anrcause.Over(past)
	var out []diagnose.Cause
	for _, r := range head {
		if len(found[r.Scenario]) > 0 {
			out = append(out, bySections(r, base, found[r.Scenario])...)
		}
		if len(r.ANRs) > 0 {
			out = append(out, stood.Explain(r, found[r.Scenario])...)
		}
	}
	return out
}
