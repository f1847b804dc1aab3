package records

import (
	"context"
	"errors"
	"iter"
	"maps"

	"github.com/apkgate/apkgate/runstore"
)

// Cursor identifies the last run that was read: its start as a stamp, and its id.
type Cursor struct{ Started, ID string }

// List reads a list of at most limit runs (0: all) in pages of that size, so that a slow consumer
// holds no transaction open. read is called with the last run before the page, nil at first, and
// the number to read.
func List(limit, size int, read func(after *Cursor, n int) ([]runstore.Entry, error)) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		var after *Cursor
		for left := limit; limit == 0 || left > 0; left -= size {
			n := size
			if limit > 0 {
				n = min(size, left)
			}
			found, err := read(after, n)
			if err != nil {
				yield(runstore.Entry{}, err)
				return
			}
			for _, e := range found {
				if !yield(e, nil) {
					return
				}
				after = &Cursor{Stamp(e.Run.Started), e.Run.ID}
			}
			if len(found) < n {
				return
			}
		}
	}
}

// Export returns the listed runs in full. A run that has been pruned in the meantime is left out;
// for a damaged run its error is returned, and the others follow.
func Export(ctx context.Context, s runstore.Store, listed iter.Seq2[runstore.Entry, error]) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		for e, err := range listed {
			id := e.Run.ID
			if err == nil {
				e, err = s.Get(ctx, id)
			}
			var damaged *runstore.DamagedRun
			switch {
			case errors.Is(err, runstore.ErrNotFound):
				continue
			case errors.Is(err, runstore.ErrDamaged) && !errors.As(err, &damaged):
				err = &runstore.DamagedRun{ID: id, Err: err}
			}
			goesOn := err == nil || errors.As(err, &damaged)
			if !yield(e, err) || !goesOn {
				return
			}
		}
	}
}

// Differs names the first difference between the list and the record, "" for none.
func Differs(e, listed runstore.Entry) string {
	r, l := e.Run, listed.Run
	switch {
	case r.App != l.App:
		return "app"
	case r.Source.Listed() != l.Source.Listed():
		return "source"
	case r.Scenario != l.Scenario:
		return "scenario"
	case r.Session != l.Session:
		return "session"
	case r.Status != l.Status:
		return "status"
	case Stamp(r.Started) != Stamp(l.Started):
		return "start"
	case e.Iterations != listed.Iterations:
		return "number of iterations"
	case !maps.Equal(r.Context, l.Context):
		return "context"
	}
	return ""
}
