package judging

import (
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
)

// Judge computes the verdict on runs, with what a report needs in addition.
func Judge(runs []run.Run, before Past, set settings.Settings) (layout.Input, error) {
	energy, near, newest := make([]*hotspots.Change, len(runs)), make([][]string, len(runs)), make([]layout.Origin, len(runs))
	verdict, err := before.Check(runs, set, func(i int, refs []run.Summary) (err error) {
		near[i], newest[i] = nearest(runs[i], refs), newestOf(refs)
		energy[i], err = before.whereItWent(runs[i], refs)
		return err
	})
	if err != nil {
		return layout.Input{}, err
	}
	verdict.FailOn = set.Fails()
	warnLevels(&verdict, set.Catalogue, before.entry)
	in := layout.Input{
		Verdict: verdict, Runs: runs, Catalogue: set.Catalogue, Notes: append(NotesOn(verdict), set.Notes...), Meta: MetaOf(runs),
	}
	for _, at := range newest {
		if at.At.After(in.Meta.Newest.At) {
			in.Meta.Newest = at
		}
	}
	if in.Causes, err = before.why(runs, verdict, near, ProblemsOf(set.Config)); err != nil {
		return layout.Input{}, err
	}
	if in.Recent, err = before.recent(runs, verdict, set); err != nil {
		return layout.Input{}, err
	}
	for _, change := range energy {
		if change != nil {
			in.Energy = append(in.Energy, *change)
		}
	}
	in.Verdict.Warnings = append(in.Verdict.Warnings, openstore.DamageWarnings(before.Sound)...)
	if before.from != nil {
		in.Verdict.Warnings = append(in.Verdict.Warnings, before.from.warnings()...)
	}
	return in, nil
}

// newestOf returns when the newest of some runs was made, and of which commit.
func newestOf(refs []run.Summary) (newest layout.Origin) {
	for _, r := range refs {
		if r.Started.After(newest.At) {
			newest = layout.Origin{At: r.Started, Commit: r.Commit}
		}
	}
	return newest
}
