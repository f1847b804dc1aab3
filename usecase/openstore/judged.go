package openstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// gateBatch marks the gate's own decisions, as distinct from a person's.
const gateBatch = "gate"

// Judged stores the gate's outcome with each run of the verdict, and rejects regressions and
// invalid runs that nobody has decided on, so that they are not accepted inadvertently. Runs that
// are not in the store are skipped; a nil store stores nothing.
func Judged(ctx context.Context, store runstore.Store, v gate.Verdict) error {
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
		if Unacceptable(string(is)) && e.Mark.State == runstore.Unmarked {
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

// Refuse rejects runs that nobody has decided on in the gate's own name, for the given reason.
func Refuse(ctx context.Context, store runstore.Store, ids []string, why string) error {
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
		if e.Mark.State == runstore.Unmarked {
			open = append(open, e.Run.ID)
		}
	}
	return reject(context.WithoutCancel(ctx), store, open, why)
}

func reject(ctx context.Context, store runstore.Store, ids []string, why string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := store.Mark(ctx, ids, runstore.Mark{State: runstore.Rejected, Note: why, Batch: gateBatch}); err != nil {
		return Error(err)
	}
	return nil
}

// heldOf returns those of the runs that the store has and that are undamaged.
func heldOf(ctx context.Context, store runstore.Store, ids map[string]gate.Outcome) (held []runstore.Entry, err error) {
	var list []string
	for id := range ids {
		list = append(list, id)
	}
	if len(list) == 0 {
		return nil, nil
	}
	for e, err := range store.List(ctx, runstore.Filter{IDs: list}) {
		if errors.Is(err, runstore.ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, Error(err)
		}
		held = append(held, e)
	}
	return held, nil
}

// Unacceptable reports whether a run with this outcome is accepted only with a reason.
func Unacceptable(outcome string) bool {
	return outcome == string(gate.Regression) || outcome == string(gate.Invalid)
}

// Refused reports whether a run is rejected by the gate and no person: in the gate's own name, or
// called a regression or invalid before anybody decided on it.
func Refused(e runstore.Entry) bool {
	return RejectedByGate(e.Mark) || e.Mark.State == runstore.Unmarked && e.Run.Judged != nil && Unacceptable(e.Run.Judged.Outcome)
}

// WhyRefused returns the gate's reason for a run that is Refused.
func WhyRefused(e runstore.Entry) string {
	if RejectedByGate(e.Mark) {
		return e.Mark.Note
	}
	return fmt.Sprintf("the gate's verdict: %s", e.Run.Judged.Outcome)
}

// RejectedByGate reports whether a mark is the gate's own and no person's.
func RejectedByGate(m runstore.Mark) bool {
	return m.State == runstore.Rejected && m.Batch == gateBatch
}
