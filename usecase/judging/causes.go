package judging

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/anrcause"
	"github.com/apkgate/apkgate/diagnose/calls"
	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
)

// Frames, tasks and calls are compared with those of so many runs of the history, which are searched among
// so many of the most similar ones.
const (
	mostBase       = 5
	mostCandidates = 20
)

// nearest returns the ids of the most similar runs, except a run's own.
func nearest(r run.Run, refs []run.Summary) []string {
	var out []string
	for _, ref := range refs {
		if ref.ID != r.ID && len(out) < mostCandidates {
			out = append(out, ref.ID)
		}
	}
	return out
}

// ProblemsOf returns the problems that a team knows; cfg may be nil.
func ProblemsOf(cfg *config.Config) (out []calls.Problem) {
	if cfg == nil {
		return nil
	}
	for _, p := range cfg.KnownProblems {
		out = append(out, calls.Problem{
			Name: p.Name, Calls: p.Calls, OverMS: float64(p.Over) / float64(time.Millisecond), AnyThread: p.Threads == config.AllThreads, Text: p.Text, Link: p.Link,
		})
	}
	return out
}

// beside explains findings on a run by its frames, its tasks and its calls, compared with runs
// before, and names what is known of them.
func beside(r run.Run, base []run.Run, found []diagnose.Finding, problems []calls.Problem) []diagnose.Cause {
	out := append(jankcause.Explain(r, base, found), queueing.Explain(r, base, found)...)
	if len(found) > 0 {
		out = append(out, calls.Explain(r, base, found)...)
	}
	return append(out, calls.Match(r, problems, found)...)
}

// why explains a verdict's findings on runs by their frames, tasks and calls, and whatever did not
// respond in them. near are the most similar runs of the history for each.
func (p Past) why(runs []run.Run, v gate.Verdict, near [][]string, problems []calls.Problem) ([]diagnose.Cause, error) {
	found := map[string][]diagnose.Finding{}
	for _, r := range v.Runs {
		found[r.ID] = findingsOf(r)
	}
	var out []diagnose.Cause
	whole := map[string]*run.Run{} // of the history, as far as they were read
	stood := map[string]*anrcause.History{}
	for i, r := range runs {
		if explained(r) && len(found[r.ID]) > 0 {
			base, err := p.recorded(near[i], whole)
			if err != nil {
				return nil, err
			}
			out = append(out, beside(r, base, found[r.ID], problems)...)
		} else {
			out = append(out, calls.Match(r, problems, nil)...)
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

// Rounds are both builds' runs of what was measured alternately for one run of a verdict.
type Rounds struct{ Base, Head run.Run }

// Settled explains a verdict that rounds have settled, by what both builds' frames, tasks and main
// threads did alternately, if known. rounds are keyed by the runs' places. Earlier causes of comparisons that
// are no longer flagged are dropped.
func Settled(in layout.Input, rounds map[int]Rounds, problems []calls.Problem) []diagnose.Cause {
	var out []diagnose.Cause
	for i, v := range in.Verdict.Runs {
		found := findingsOf(v)
		var anew []diagnose.Cause
		r, ok := rounds[i]
		if ok && len(found) > 0 {
			r.Head.ID = v.ID
			anew = r.explain(found, problems)
		}
		traced := r.Head.MethodTraces != nil && r.Base.MethodTraces != nil
		for _, c := range in.Causes {
			family := diagnose.KindOf(c.Kind).Family.Name
			flagged := slices.ContainsFunc(found, func(f diagnose.Finding) bool { return f.Event == c.Event && f.Metric == c.Metric })
			if c.Run == v.ID && (family == anrcause.Family.Name || flagged && !hasFamily(anew, family) && !(traced && family == calls.Family.Name)) {
				out = append(out, c)
			}
		}
		out = append(out, anew...)
	}
	return out
}

// explain explains findings by rounds of both builds, as far as both were recorded.
func (r Rounds) explain(found []diagnose.Finding, problems []calls.Problem) []diagnose.Cause {
	if r.Base.Frames == nil {
		r.Head.Frames = nil
	}
	if r.Base.Tasks == nil {
		r.Head.Tasks = nil
	}
	if r.Base.MethodTraces == nil {
		r.Head.MethodTraces = nil
	}
	return beside(r.Head, []run.Run{r.Base}, found, problems)
}

func hasFamily(all []diagnose.Cause, family string) bool {
	return slices.ContainsFunc(all, func(c diagnose.Cause) bool { return diagnose.KindOf(c.Kind).Family.Name == family })
}

// recorded returns the first of these runs that record what their frames or their main thread did.
// Runs that the history has lost since are skipped.
func (p Past) recorded(ids []string, known map[string]*run.Run) (base []run.Run, err error) {
	for _, id := range ids {
		if _, asked := known[id]; !asked {
			one, err := p.whole(id)
			switch {
			case errors.Is(err, runstore.ErrNotFound):
				known[id] = nil
			case err != nil:
				return nil, exit.Infrastructure(fmt.Errorf("ask the history for run %s: %w", id, err))
			default:
				known[id] = recordsOf(one)
			}
		}
		if r := known[id]; r != nil {
			if base = append(base, *r); len(base) == mostBase {
				break
			}
		}
	}
	return base, nil
}

// explained reports whether a run records what its frames, its tasks or its main thread did.
func explained(r run.Run) bool { return r.Frames != nil || r.Tasks != nil || r.MethodTraces != nil }

// recordsOf returns a run if others can be explained by it, nil if it has no such record.
func recordsOf(r run.Run) *run.Run {
	if !explained(r) {
		return nil
	}
	out := &run.Run{ID: r.ID, Started: r.Started, App: r.App, Scenario: r.Scenario, Context: r.Context, Frames: r.Frames, Tasks: r.Tasks, MethodTraces: r.MethodTraces}
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
func whyBesideBase(v sidebyside.Verdict, base, head []run.Run, problems []calls.Problem) []diagnose.Cause {
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
			out = append(out, beside(r, base, found[r.Scenario], problems)...)
		}
		if len(r.ANRs) > 0 {
			out = append(out, stood.Explain(r, found[r.Scenario])...)
		}
	}
	return out
}
