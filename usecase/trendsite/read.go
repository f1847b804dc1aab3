// Package trendsite reads a history over time, and publishes it as a folder of pages.
//
// It finds the accepted runs with what was decided about them, and those that were judged and not
// accepted. It writes a site whose pages stay valid: an index, a page for each scenario, night and
// judged build, and the reports of regressions, which outlive the files of the job that made them.
// Levels belong to gate/trend, their presentation to report/trends.
package trendsite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/trends"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
)

// MostRuns limits the accepted runs that are read, newest first, and mostJudged those that were
// judged and not accepted, which are read in full.
const (
	MostRuns   = 20_000
	mostJudged = 300
)

// Read returns the trend of the accepted runs that match the filter, and next to it those that were
// judged and not accepted, as of pull requests. Runs from before a new level belong to it too.
func Read(ctx context.Context, s runstore.Store, set settings.Settings, f runstore.Filter) (trends.Input, error) {
	out := trends.Input{Version: version.Tool(), Runs: map[string]trends.RunDetail{}}
	f.States, f.Status, f.Limit = []runstore.State{runstore.Accepted, runstore.Rebaselined}, run.Complete, MostRuns+1
	r := reading{ctx: ctx, store: s, set: set, catalogue: set.Catalogue, listed: map[string]runstore.Entry{}}
	for e, err := range s.List(ctx, f) {
		if err != nil {
			return out, openstore.Error(err)
		}
		if len(r.listed) == MostRuns {
			out.Warnings = append(out.Warnings, fmt.Sprintf("only the newest %s accepted runs are shown: --scenario and --where choose among them", prose.Thousands(MostRuns)))
			break
		}
		r.listed[e.Run.ID] = e
		out.Runs[e.Run.ID] = detailOf(e)
		if r.oldest.IsZero() || e.Run.Started.Before(r.oldest) {
			r.oldest = e.Run.Started
		}
		r.simulated = r.simulated || e.Run.Context[devctx.Simulated] == "true"
	}
	if err := errors.Join(r.present(), r.rest(), r.judged(f, &out)); err != nil {
		return out, openstore.Error(err)
	}
	if r.simulated {
		out.Notes = append(out.Notes, "The devices are simulated.")
	}
	out.Scenarios = trend.Of(set.Policy, r.catalogue, r.runs)
	return out, nil
}

// reading collects the runs of a history with their numbers.
type reading struct {
	ctx       context.Context
	store     runstore.Store
	set       settings.Settings
	catalogue *metric.Catalogue // with the metrics that runs declare
	listed    map[string]runstore.Entry
	layouts   run.Layouts
	runs      []trend.Run
	oldest    time.Time // the start of the first accepted run
	simulated bool
}

// detailOf returns what a page of a run says of it besides its numbers.
func detailOf(e runstore.Entry) trends.RunDetail {
	d := trends.RunDetail{Version: e.Run.App.Version, Ref: e.Run.Source.Ref, Repetitions: e.Iterations, Context: e.Run.Context}
	if e.Run.Judged != nil {
		d.Outcome = gate.Outcome(e.Run.Judged.Outcome)
	}
	return d
}

// take adds a run's numbers, and takes it off the list.
func (r *reading) take(s run.Summary) {
	e, wanted := r.listed[s.ID]
	if !wanted {
		return
	}
	delete(r.listed, s.ID)
	s.Cells = r.layouts.Share(s.Cells)
	r.runs = append(r.runs, trend.Run{Summary: s, Package: e.Run.App.Package, Scenario: e.Run.Scenario, Decision: decisionOf(e.Mark)})
}

// present takes the runs that still count, whose numbers a store has at hand. The newest run of each
// kind tells which metrics they declare.
func (r *reading) present() error {
	seen := map[string]bool{}
	newestFirst := slices.SortedFunc(maps.Values(r.listed), func(a, b runstore.Entry) int {
		return cmp.Or(b.Run.Started.Compare(a.Run.Started), cmp.Compare(a.Run.ID, b.Run.ID))
	})
	for _, e := range newestFirst {
		kind := fmt.Sprintf("%q %q %q", e.Run.App.Package, e.Run.Scenario, devctx.Only(e.Run.Context, devctx.Hard))
		if e.Retired || seen[kind] {
			continue
		}
		seen[kind] = true
		q := runstore.For(e.Run)
		q.Use, q.Centre, q.Limit = r.set.Policy.Use, r.set.Policy.Centre, MostRuns
		found, err := r.store.References(r.ctx, q)
		if err != nil {
			return err
		}
		for _, s := range found {
			r.take(s)
		}
		whole, err := r.store.Get(r.ctx, e.Run.ID)
		if err == nil {
			r.declared(whole.Run)
		} else if !errors.Is(err, runstore.ErrDamaged) { // that is reported with the rest of the damage
			return err
		}
	}
	return nil
}

// rest takes the other runs, such as those from before a new level, which are read in full.
func (r *reading) rest() error {
	if len(r.listed) == 0 {
		return nil
	}
	for e, err := range r.store.Export(r.ctx, runstore.Filter{IDs: slices.Sorted(maps.Keys(r.listed))}) {
		if err != nil {
			return err
		}
		r.declared(e.Run)
		r.take(runstore.Summarize(e.Run, r.set.Policy.Centre))
	}
	return nil
}

// judged takes the newest runs that were judged and not accepted, since the first accepted one.
func (r *reading) judged(f runstore.Filter, out *trends.Input) error {
	if r.oldest.IsZero() {
		return nil // no run is accepted
	}
	f.States, f.From, f.Limit = []runstore.State{runstore.Unmarked, runstore.Rejected}, r.oldest, MostRuns
	found := map[string]trends.RunDetail{}
	for e, err := range r.store.List(r.ctx, f) {
		if errors.Is(err, runstore.ErrDamaged) { // it has no part in a level; baseline verify reports it
			continue
		}
		if err != nil {
			return err
		}
		if e.Run.Judged == nil {
			continue
		}
		if len(found) == mostJudged {
			out.Warnings = append(out.Warnings, fmt.Sprintf("only the newest %d runs that were judged and not accepted are shown", mostJudged))
			break
		}
		found[e.Run.ID] = detailOf(e)
	}
	if len(found) == 0 {
		return nil
	}
	for e, err := range r.store.Export(r.ctx, runstore.Filter{IDs: slices.Sorted(maps.Keys(found))}) {
		if errors.Is(err, runstore.ErrDamaged) {
			continue
		}
		if err != nil {
			return err
		}
		r.declared(e.Run)
		s := runstore.Summarize(e.Run, r.set.Policy.Centre)
		s.Cells = r.layouts.Share(s.Cells)
		detail := found[s.ID]
		out.Runs[s.ID] = detail
		r.runs = append(r.runs, trend.Run{Summary: s, Package: e.Run.App.Package, Scenario: e.Run.Scenario, Outcome: detail.Outcome, Ref: detail.Ref})
	}
	return nil
}

func (r *reading) declared(of run.Run) {
	if len(of.Declared) > 0 {
		r.catalogue, _ = gate.Catalogue(r.catalogue, of)
	}
}

// routine are the notes of commands that accept runs without anybody's decision.
var routine = []string{"imported", "demo", "run --accept", "baseline refresh"}

// decisionOf returns what someone decided with a mark. A refresh names who accepted a regression,
// and why, behind its own note.
func decisionOf(m runstore.Mark) trend.Decision {
	d := trend.Decision{NewLevel: m.State == runstore.Rebaselined, At: m.At, Note: strings.TrimPrefix(m.Note, "baseline refresh, ")}
	if slices.Contains(routine, m.Note) {
		d.Note = ""
	}
	return d
}
