package evaluate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/research/evaluation/series"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// fromStore returns the numbers of the newest accepted runs that the policy judges: a series for
// each scenario, context and number, repetitions sorted by time, in the session of their run. lost
// is an error about unreadable parts of the history.
func fromStore(ctx context.Context, c terminal.Console, limit int, set settings.Settings) (all []series.Series, lost, err error) {
	store, err := openstore.OpenToRead(ctx, c, set.Store)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	sound := runstore.SoundOf(store)
	var runs []run.Run
	accepted := runstore.Filter{States: []runstore.State{runstore.Accepted, runstore.Rebaselined}, Limit: limit}
	for e, err := range sound.List(ctx, accepted) {
		if err != nil {
			return nil, nil, openstore.Error(err)
		}
		full, err := store.Get(ctx, e.Run.ID)
		if errors.Is(err, runstore.ErrDamaged) {
			sound.PassOver(e.Run.ID, err)
			continue
		}
		if err != nil {
			return nil, nil, openstore.Error(err)
		}
		runs = append(runs, full.Run)
	}
	slices.SortStableFunc(runs, func(a, b run.Run) int { return a.Started.Compare(b.Started) })
	if all = seriesOf(runs, set); len(all) == 0 {
		return nil, nil, exit.Usage(fmt.Errorf("the history at %s has no accepted run with a number that the gate judges", terminal.Plain(set.Store)), "name a file of series, or accept runs first: apkgate baseline import")
	}
	return all, openstore.Damage(c, sound), nil
}

func seriesOf(runs []run.Run, set settings.Settings) []series.Series {
	type key struct {
		scenario, context string
		cell              run.Cell
	}
	places := map[key]int{}
	var out []series.Series
	for _, r := range runs {
		catalogue, err := run.Catalogue(set.Catalogue, r)
		if r.Status != run.Complete || err != nil {
			continue
		}
		whole := run.Summarize(r, set.Policy.Centre, catalogue)
		for _, it := range r.Iterations {
			one := run.Summarize(run.Run{Iterations: []run.Iteration{it}}, set.Policy.Centre, catalogue)
			for cell, v := range one.Cells.All() {
				if _, builtin := metric.Default().Lookup(cell.Metric); !builtin || !set.Policy.Judged(cell, whole, catalogue) {
					continue
				}
				k := key{r.App.Package + " " + r.Scenario, devctx.Key(r.Context), cell}
				at, known := places[k]
				if !known {
					at = len(out)
					places[k] = at
					out = append(out, series.Series{Name: nameOf(r, cell), Device: deviceOf(r), Metric: cell.Metric})
				}
				out[at].Values, out[at].Session = append(out[at].Values, v), append(out[at].Session, sessionOf(r))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b series.Series) int { return strings.Compare(a.Device+"\x00"+a.Name, b.Device+"\x00"+b.Name) })
	return out
}

func nameOf(r run.Run, cell run.Cell) string {
	name := r.Scenario + ": " + cell.Metric
	if cell.Event != "" {
		name += " after " + cell.Event
	}
	return name
}

func deviceOf(r run.Run) string {
	if model := r.Context["model"]; model != "" {
		return model
	}
	return "unnamed device"
}

func sessionOf(r run.Run) string {
	if r.Session != "" {
		return r.Session
	}
	return r.ID
}
