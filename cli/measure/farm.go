package measure

import (
	"cmp"
	"context"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/farms"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// OnFarm measures both builds on the farm of a configuration.
func (b Builds) OnFarm(ctx context.Context, c terminal.Console, configuration string) (farms.Pair, error) {
	cfg, err := settings.LoadConfig(configuration, false)
	if err != nil {
		return farms.Pair{}, err
	}
	if err := measurement.OnlyScenarios(cfg, b.Scenarios); err != nil {
		return farms.Pair{}, err
	}
	if b.Keep != "" {
		if err := atomicfile.Writable(b.Keep); err != nil {
			return farms.Pair{}, err
		}
	}
	baseFrom, from := b.from(c)
	p, err := farms.Both(ctx, c, cfg, farms.Builds{
		Base: b.Base, Head: b.Head, BaseFrom: baseFrom, From: from, Rounds: b.Rounds, Session: cmp.Or(b.Session, CompareSession(c)),
	})
	if err != nil {
		return farms.Pair{}, err
	}
	return p, interleaved.KeepBoth(b.Keep, results(p.Base), results(p.Head))
}

// results returns runs as results, for writing them.
func results(runs []run.Run) []collect.Result {
	out := make([]collect.Result, len(runs))
	for i, r := range runs {
		out[i].Run = r
	}
	return out
}
