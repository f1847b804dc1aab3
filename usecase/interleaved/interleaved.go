// Package interleaved measures what a verdict leaves undecided: the head build alternately with a base
// build or, if there is none, what looks worse once more in another session.
//
// It owns the choice of the base build and what is reported of it. What is undecided, when it is
// settled and what follows belongs to package gate and those below it; measuring a device belongs
// to package measurement. Earlier measurements are never lost: a base build that can't be measured
// leaves the verdict as it was, with the reason.
package interleaved

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/fleet"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Settler settles what the history left undecided of runs that were just measured.
type Settler struct {
	terminal.Console
	Config *config.Config
	Set    settings.Settings
	// Flags are those that the runs were measured with.
	Flags measurement.CollectFlags
	Base  Base
	// Store keeps what is measured, unmarked; nil for none. Keep is a folder that gets the rounds
	// as base.jsonl and head.jsonl, "" for none.
	Store runstore.Store
	Keep  string
	// Judge computes the verdict on runs, by their history.
	Judge func(runs []run.Run) (layout.Input, error)
}

// Settle measures what is undecided in the verdict on the runs, and returns the resulting verdict.
// With an error it returns the verdict so far: on what was measured before, and on what could be
// kept.
func (s Settler) Settle(ctx context.Context, in layout.Input, m measurement.Measured) (layout.Input, error) {
	questions := rounds.Questions(in.Verdict)
	switch {
	case len(questions) == 0 || len(m.Places) != len(in.Verdict.Runs):
		return in, nil
	case s.Base.APK == "":
		return s.again(ctx, in, m)
	case s.Config.Rounds.Max == 0:
		return in, nil
	case s.Config.App.APK == "":
		return s.noted(in, "What is undecided was not measured alternately with the base build: app.apk names no file of the new one."), nil
	}
	earlier := s.earlierParts(ctx, in.Verdict, placesOf(questions), sourceOf(m.Runs))
	parts, before := mostOf(earlier)
	most, bound := s.mostRounds(m, placesOf(questions))
	plan, err := rounds.PlanWithin(s.Set.Policy, parts, before, most, s.fitting(in.Verdict, questions), len(questions))
	if err != nil {
		return s.noted(in, "What is undecided was not measured alternately with the base build: "+err.Error()+" ("+bound+")."), nil
	}
	return s.inTurns(ctx, in, m, questions, plan, earlier)
}

func (s Settler) noted(in layout.Input, note string) layout.Input {
	in.Notes = append(slices.Clone(in.Notes), note)
	return in
}

// inTurns measures the undecided questions by the plan.
func (s Settler) inTurns(ctx context.Context, in layout.Input, m measurement.Measured, questions []rounds.Question, plan rounds.Plan, earlier map[int][]part) (layout.Input, error) {
	catalogue, err := run.Catalogue(s.catalogue(), m.Runs...)
	if err != nil {
		return in, exit.Usage(err, "")
	}
	trial := rounds.New(s.Set.Policy, catalogue, in.Verdict, plan)
	for place, parts := range earlier {
		resume(trial, place, parts)
	}
	s.readWander(ctx, trial, in.Verdict, placesOf(questions))
	agenda := s.agendaOf(trial, in.Verdict)
	s.printAgenda(trial, agenda, in.Verdict, plan.Most, len(questions), len(earlier))
	places := agenda.places
	only := make([]int, len(places))
	for i, place := range places {
		only[i] = m.Places[place]
	}
	origin := measurement.OriginOf(s.Console, s.Flags)
	bases, heads, lost := measurement.Interleave(ctx, s.Console, s.Config, measurement.InTurns{
		Base: s.Base.APK, BaseFrom: s.Base.Source, From: origin.Source, Session: s.session(roundsSession),
		Parallel: s.Flags.Parallel, Pool: s.Flags.Pool, Farm: s.Flags.Farm, Rounds: s.Config.Rounds.Max, Again: s.Flags.Again + 1, Only: only,
		Reads: s.Config.Evidence.Keeps() && slices.ContainsFunc(questions, traced(catalogue)),
		Turns: fleet.Turns{Within: s.Config.Rounds.Within(), Repetitions: agenda.turns, More: func(job int, so collect.Progress) int {
			trial.Add(places[job], so.Base, so.Head)
			return s.until(trial, places[job], agenda.round(job, so), so)
		}},
		Keep: func(r run.Run) error { return measurement.AddTo(ctx, s.Store, r) },
	})
	switch {
	case ctx.Err() != nil:
		lost = exit.Infrastructure(fmt.Errorf("measure alternately: %w", ctx.Err()))
	case lost != nil && bases == nil:
		return s.noted(in, "What is undecided was not measured alternately with the base build: "+lost.Error()), nil
	}
	if bases == nil {
		return in, lost
	}
	lost = errors.Join(lost, KeepBoth(s.Keep, bases, heads))
	for i, place := range places {
		if ctx.Err() == nil {
			lost = errors.Join(lost, lossOf(bases[i], heads[i]))
		}
		if !errors.Is(bases[i].Err, collect.ErrNoTime) { // else the earlier measurements are all there is
			trial.Add(place, bases[i].Run, heads[i].Run)
		}
		trial.End(place, lostOf(bases[i], heads[i]))
	}
	in.Verdict = trial.Verdict()
	in.Causes = judging.Settled(in, roundsOf(places, bases, heads), judging.ProblemsOf(s.Config))
	return in, lost
}

// traced reports whether only a recording of the rounds can settle a question.
func traced(catalogue *metric.Catalogue) func(rounds.Question) bool {
	return func(q rounds.Question) bool {
		m, _ := catalogue.Lookup(q.Cell.Metric)
		return m.Traced
	}
}

// roundsSession marks the sessions of rounds.
const roundsSession = "rounds"

// MeasuredInTurns reports whether a run was measured alternately with another build: it shows how the
// two compare, and is no session that later runs are compared with.
func MeasuredInTurns(r run.Run) bool {
	return strings.HasSuffix(r.Session, " "+roundsSession) || strings.HasPrefix(r.Session, roundsSession+"-") // see Settler.session
}

// sourceOf returns the source of the runs.
func sourceOf(runs []run.Run) run.Source {
	if len(runs) == 0 {
		return run.Source{}
	}
	return runs[0].Source
}

// roundsOf returns both builds' runs by the places that they were measured for.
func roundsOf(places []int, bases, heads []collect.Result) map[int]judging.Rounds {
	out := map[int]judging.Rounds{}
	for i, place := range places {
		out[place] = judging.Rounds{Base: bases[i].Run, Head: heads[i].Run}
	}
	return out
}

func (s Settler) catalogue() *metric.Catalogue {
	if s.Set.Catalogue == nil {
		return metric.Default()
	}
	return s.Set.Catalogue
}

// session returns a session's name derived from the runs' own.
func (s Settler) session(what string) string {
	if s.Flags.Session == "" {
		return what + "-" + s.Now().UTC().Format("20060102T150405.000Z")
	}
	return s.Flags.Session + " " + what
}

// placesOf returns the places of runs that have questions, without duplicates.
func placesOf(questions []rounds.Question) []int {
	var out []int
	for _, q := range questions {
		if !slices.Contains(out, q.Place) {
			out = append(out, q.Place)
		}
	}
	return out
}

// where describes the devices of the places: "2 devices".
func (s Settler) where(v gate.Verdict, places []int) string {
	devices := map[string]bool{}
	for _, place := range places {
		devices[v.Runs[place].Context["model"]+"\x00"+v.Runs[place].Context["sdk"]] = true
	}
	return prose.Count(len(devices), "device", "devices")
}

// KeptFiles returns the files for the runs of both builds, base and head; none if the folder is "".
func KeptFiles(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{filepath.Join(dir, "base.jsonl"), filepath.Join(dir, "head.jsonl")}
}

// KeepBoth writes the runs of both builds into a folder (see KeptFiles).
func KeepBoth(dir string, base, head []collect.Result) error {
	for i, path := range KeptFiles(dir) {
		if err := atomicfile.Write(path, measurement.JSONLines([][]collect.Result{base, head}[i])); err != nil {
			return exit.Infrastructure(atomicfile.Error("write the runs to", path, err))
		}
	}
	return nil
}

// lostOf returns why two builds' rounds ended before they were settled or spent, "" if nothing went
// wrong.
func lostOf(base, head collect.Result) string {
	for i, r := range []collect.Result{base, head} {
		if !failed(r) {
			continue
		}
		return "the " + []string{"base", "head"}[i] + " build: " + prose.OneLine(r.Err.Error())
	}
	return ""
}

// lossOf returns the loss of two builds' rounds, unless the base build itself failed: the new build
// ended by itself, or the device was lost. nil if there is none. A base that does not install or
// run is no loss: what is undecided stays so.
func lossOf(base, head collect.Result) error {
	var install *adb.InstallError
	switch {
	case failed(head):
		one := []collect.Result{head}
		return cmp.Or(measurement.LossOf(one), measurement.EndedOf(one))
	case failed(base) && loss.IsInfrastructure(base.Err) && !errors.As(base.Err, &install):
		return measurement.LossOf([]collect.Result{base})
	}
	return nil
}

// failed reports whether a build's rounds ended by what happened in its own turn.
func failed(r collect.Result) bool {
	return r.Err != nil && !errors.Is(r.Err, collect.ErrNoTime) && !errors.Is(r.Err, collect.ErrOtherBuild)
}
