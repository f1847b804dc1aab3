package measure

import (
	"cmp"
	"context"

	"github.com/apkgate/apkgate/app/farmed"
	"github.com/apkgate/apkgate/app/files"
	"github.com/apkgate/apkgate/app/interleaved"
	"github.com/apkgate/apkgate/app/lab"
	"github.com/apkgate/apkgate/app/settings"
	"github.com/apkgate/apkgate/app/terminal"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/run"
)

// OnFarm measures both builds on the farm of a configuration.
func (b Builds) OnFarm(ctx context.Context, c terminal.Console, configuration string) (farmed.Pair, error) {
	cfg, err := settings.LoadConfig(configuration, false)
	if err != nil {
		return farmed.Pair{}, err
	}
	if err := lab.OnlyScenarios(cfg, b.Scenarios); err != nil {
		return farmed.Pair{}, err
	}
	if b.Keep != "" {
		if err := files.Writable(b.Keep); err != nil {
			return farmed.Pair{}, err
		}
	}
	baseFrom, from := b.from(c)
	p, err := farmed.Both(ctx, c, cfg, farmed.Builds{
		Base: b.Base, Head: b.Head, BaseFrom: baseFrom, From: from, Rounds: b.Rounds, Session: cmp.Or(b.Session, CompareSession(c)),
	})
	if err != nil {
		return farmed.Pair{}, err
	}
	return p, interleaved.KeepBoth(b.Keep, results(p.Base), results(p.Head))
}

// results are runs as they are kept.
func results(runs []run.Run) []collect.Result {
	out := make([]collect.Result, len(runs))
	for i, r := range runs {
		out[i].Run = r
	}
	return out
}
