package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/gate"
)

// gateBatch is what the gate's own marks have in common, by which they are told from a person's.
const gateBatch = "gate"

// Reject keeps out of the history's references what the gate called a regression or invalid, so
// that nobody accepts it by the way: of a verdict's runs those that nobody has decided on. Where
// the store is nil nothing is kept.
func Reject(ctx context.Context, store baseline.Store, v gate.Verdict) error {
	if store == nil {
		return nil
	}
	for _, outcome := range []gate.Outcome{gate.Regression, gate.Invalid} {
		var ids []string
		for _, r := range v.Runs {
			if r.Verdict == outcome {
				ids = append(ids, r.ID)
			}
		}
		ids, err := undecided(ctx, store, ids)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			continue
		}
		mark := baseline.Mark{State: baseline.Rejected, Note: fmt.Sprintf("the gate's verdict: %s", outcome), Batch: gateBatch}
		if err := store.Mark(context.WithoutCancel(ctx), ids, mark); err != nil {
			return Error(err)
		}
	}
	return nil
}

// undecided are those of the ids whose runs nobody has decided on: a session can be judged again
// after somebody has.
func undecided(ctx context.Context, store baseline.Store, ids []string) ([]string, error) {
	var out []string
	if len(ids) == 0 {
		return nil, nil
	}
	for e, err := range store.List(ctx, baseline.Filter{IDs: ids, States: []baseline.State{baseline.Unmarked}}) {
		if errors.Is(err, baseline.ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, Error(err)
		}
		out = append(out, e.Run.ID)
	}
	return out, nil
}

// RejectedByGate reports whether a mark is the gate's own and no person's.
func RejectedByGate(m baseline.Mark) bool {
	return m.State == baseline.Rejected && m.Batch == gateBatch
}
