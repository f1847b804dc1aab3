package measure

import (
	"context"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/farmed"
	"github.com/apkgate/apkgate/internal/cli/files"
	"github.com/apkgate/apkgate/internal/cli/lab"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/turns"
	"github.com/apkgate/apkgate/run"
)

// onFarm measures both builds on the configuration's farm.
func (f compareFlags) onFarm(ctx context.Context, c console.Console) (farmed.Pair, error) {
	cfg, err := settings.LoadConfig(f.Config, false)
	if err != nil {
		return farmed.Pair{}, err
	}
	if err := lab.OnlyScenarios(cfg, f.Scenarios); err != nil {
		return farmed.Pair{}, err
	}
	if f.Keep != "" {
		if err := files.Writable(f.Keep); err != nil {
			return farmed.Pair{}, err
		}
	}
	baseFrom, from := f.from(c)
	p, err := farmed.Both(ctx, c, cfg, farmed.Builds{
		Base: f.Base, Head: f.Head, BaseFrom: baseFrom, From: from, Rounds: f.Rounds, Session: CompareSession(c),
	})
	if err != nil {
		return farmed.Pair{}, err
	}
	return p, turns.KeepBoth(f.Keep, results(p.Base), results(p.Head))
}

// results are runs as they are kept.
func results(runs []run.Run) []collect.Result {
	out := make([]collect.Result, len(runs))
	for i, r := range runs {
		out[i].Run = r
	}
	return out
}
