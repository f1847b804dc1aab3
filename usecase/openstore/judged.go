package openstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// gateBatch is what the gate's own marks have in common, by which they are told from a person's.
const gateBatch = "gate"

// Judged keeps with each run of the verdict what the gate called it, and rejects what is a
// regression or invalid, so that nobody accepts it by the way: of the runs those that nobody has
// decided on. Runs that the store does not hold are passed over; where it is nil nothing is kept.
func Judged(ctx context.Context, store baseline.Store, v gate.Verdict) error {
	if store == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	outcomes := map[string]gate.Outcome{}
	for _, r := range v.Runs {
		outcomes[r.ID] = r.Verdict
	}
	held, err := heldOf(ctx, store, outcomes)
	if err != nil {
		return err
	}
	said, rejected := map[string]run.Judged{}, map[gate.Outcome][]string{}
	for _, e := range held {
		is := outcomes[e.Run.ID]
		said[e.Run.ID] = run.Judged{Outcome: string(is)}
		if Unacceptable(string(is)) && e.Mark.State == baseline.Unmarked {
			rejected[is] = append(rejected[is], e.Run.ID)
		}
	}
	if len(said) == 0 {
		return nil
	}
	if err := store.Judge(ctx, said); err != nil {
		return Error(err)
	}
	for is, ids := range rejected {
		if err := reject(ctx, store, ids, "the gate's verdict: "+string(is)); err != nil {
			return err
		}
	}
	return nil
}

// Refuse keeps runs that nobody has decided on out of the references in the gate's own name, for
// the reason why.
func Refuse(ctx context.Context, store baseline.Store, ids []string, why string) error {
	asked := map[string]gate.Outcome{}
	for _, id := range ids {
		asked[id] = ""
	}
	held, err := heldOf(ctx, store, asked)
	if err != nil {
		return err
	}
	var open []string
	for _, e := range held {
		if e.Mark.State == baseline.Unmarked {
			open = append(open, e.Run.ID)
		}
	}
	return reject(context.WithoutCancel(ctx), store, open, why)
}

func reject(ctx context.Context, store baseline.Store, ids []string, why string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := store.Mark(ctx, ids, baseline.Mark{State: baseline.Rejected, Note: why, Batch: gateBatch}); err != nil {
		return Error(err)
	}
	return nil
}

// heldOf are those of the runs that the store holds and that are sound in it.
func heldOf(ctx context.Context, store baseline.Store, ids map[string]gate.Outcome) (held []baseline.Entry, err error) {
	var list []string
	for id := range ids {
		list = append(list, id)
	}
	if len(list) == 0 {
		return nil, nil
	}
	for e, err := range store.List(ctx, baseline.Filter{IDs: list}) {
		if errors.Is(err, baseline.ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, Error(err)
		}
		held = append(held, e)
	}
	return held, nil
}

// Unacceptable reports whether the gate's word for a run is one with which nobody accepts it without
// saying why.
func Unacceptable(outcome string) bool {
	return outcome == string(gate.Regression) || outcome == string(gate.Invalid)
}

// Refused reports whether a run is out of the references by the gate's word and no person's: it was
// rejected in the gate's own name, or called a regression or invalid before anybody decided on it.
func Refused(e baseline.Entry) bool {
	return RejectedByGate(e.Mark) || e.Mark.State == baseline.Unmarked && e.Run.Judged != nil && Unacceptable(e.Run.Judged.Outcome)
}

// WhyRefused is the gate's word for a run that is Refused.
func WhyRefused(e baseline.Entry) string {
	if RejectedByGate(e.Mark) {
		return e.Mark.Note
	}
	return fmt.Sprintf("the gate's verdict: %s", e.Run.Judged.Outcome)
}

// RejectedByGate reports whether a mark is the gate's own and no person's.
func RejectedByGate(m baseline.Mark) bool {
	return m.State == baseline.Rejected && m.Batch == gateBatch
}
