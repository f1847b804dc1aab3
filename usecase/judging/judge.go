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
	energy, near := make([]*hotspots.Change, len(runs)), make([][]string, len(runs))
	var newest layout.Origin
	verdict, err := before.Check(runs, set, func(i int, refs []run.Summary) (err error) {
		near[i] = nearest(runs[i], refs)
		for _, r := range refs {
			if r.Started.After(newest.At) {
				newest = layout.Origin{At: r.Started, Commit: r.Commit}
			}
		}
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
	in.Meta.Newest = newest
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
