package judging

import (
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/settings"
)

// recent returns the newest accepted runs of the device whose number got worst; nil for none.
func (p Past) recent(runs []run.Run, v gate.Verdict, set settings.Settings) (*layout.Recent, error) {
	id, cell, ok := layout.Worst(v, set.Catalogue)
	at := slices.IndexFunc(runs, func(r run.Run) bool { return r.ID == id })
	if !ok || at < 0 {
		return nil, nil
	}
	refs, err := p.Like(runs[at])
	if err != nil {
		return nil, err
	}
	m, _ := set.Catalogue.Lookup(cell.Metric)
	own := devctx.Key(devctx.Telling(runs[at].Context, set.Policy.Use))
	out := &layout.Recent{Run: id, Cell: cell}
	for _, r := range refs {
		x, has := r.Cells.Get(cell)
		if has && r.ID != id && m.Comparable(r.Context, runs[at].Context) && devctx.Key(devctx.Telling(r.Context, set.Policy.Use)) == own {
			out.Accepted = append(out.Accepted, layout.RecentRun{Started: r.Started, Value: x})
		}
	}
	slices.SortStableFunc(out.Accepted, func(a, b layout.RecentRun) int { return a.Started.Compare(b.Started) })
	out.Accepted = out.Accepted[max(0, len(out.Accepted)-layout.MostRecent):]
	return out, nil
}
