package interleaved

import (
	"context"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
)

// again measures what looks worse once more, in another session: devices and the build are set up
// again. The verdict is on the runs of both sessions.
func (s Settler) again(ctx context.Context, in layout.Input, m measurement.Measured) (layout.Input, error) {
	var places []int
	for i, r := range in.Verdict.Runs {
		if slices.ContainsFunc(r.Comparisons, looksWorse) {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return in, nil
	}
	if s.Flags.Merged {
		return s.noted(in, "What looks worse was not measured again: these runs were measured in shards, and there is no base build to measure alternately with."), nil
	}
	fmt.Fprintf(s.Stderr, "%s worse, and there is no base build: measuring again in another session\n",
		prose.Count(len(places), "run looks", "runs look"))
	flags := s.Flags
	flags.Again++
	flags.Session, flags.Only, flags.Known, flags.Ended = s.session("again"), nil, nil, nil
	for _, place := range places {
		flags.Only = append(flags.Only, m.Places[place])
	}
	more, err := measurement.MeasureInto(ctx, s.Console, s.Config, flags, s.Store)
	if ctx.Err() != nil {
		return in, exit.Infrastructure(fmt.Errorf("measure again: %w", ctx.Err()))
	}
	if err != nil {
		return s.noted(in, "What looks worse could not be measured again: "+err.Error()), nil
	}
	both, err := s.Judge(slices.Concat(m.Runs, more.Runs))
	if err != nil {
		return in, err
	}
	if more.Lost != nil {
		both = s.noted(both, "Not everything was measured again: "+more.Lost.Error())
	}
	return both, nil
}

// looksWorse reports whether an undecided comparison is worse by the history, as far as one session
// can tell.
func looksWorse(c gate.Comparison) bool {
	return c.Screen == gate.Open && (c.Direction == gate.ToRegression || c.Direction == gate.Suspect)
}
