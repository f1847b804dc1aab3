package branch

import (
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/run"
)

// Mark implements baseline.Store: one push for all the runs.
func (s *Store) Mark(ctx context.Context, ids []string, m baseline.Mark) error {
	if err := m.Check(); err != nil {
		return err
	}
	err := s.write(ctx, func(w *work) (change, error) {
		entries, err := w.markable(ctx, ids, m)
		if err != nil {
			return change{}, err
		}
		segments := packing{folder: marksFolder}
		var marks []placedMark
		m := m.Dated(s.options.Now(), latest(entries))
		for _, e := range entries {
			l := lineOf(e, entries, m)
			data, err := l.encode()
			if err != nil {
				return change{}, err
			}
			segments.add(data)
			marks = append(marks, placedMark{markLine: l})
		}
		return change{
			message: fmt.Sprintf("Mark %d runs as %s", len(entries), m.State),
			files:   segments.flush(),
			apply:   func() error { return w.takeMarks(ctx, marks, map[string][]error{}) },
		}, nil
	})
	if err != nil {
		return s.wrap("mark in", err)
	}
	return nil
}

// markable are the runs of the ids, each once; all of them can be marked so.
func (w *work) markable(ctx context.Context, ids []string, m baseline.Mark) ([]baseline.Entry, error) {
	var entries []baseline.Entry
	seen := map[string]bool{}
	for _, id := range ids {
		e, err := w.current().Get(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("run %q: %w", id, err)
		}
		if m.State != baseline.Rejected && e.Run.Status != run.Complete {
			return nil, fmt.Errorf("run %q, which is %s, as %s: %w", e.Run.ID, e.Run.Status, m.State, baseline.ErrNotComplete)
		}
		e.Run.Iterations = nil // not needed, and there may be many runs
		if !seen[e.Run.ID] {
			seen[e.Run.ID] = true
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// latest is the time of the latest mark that the runs have, zero where they have
// none. The index follows the branch's tip whenever a push succeeds, so that
// nobody's mark on the branch is later.
func latest(entries []baseline.Entry) (last time.Time) {
	for _, e := range entries {
		if e.Mark.At.After(last) {
			last = e.Mark.At
		}
	}
	return last
}

// lineOf is the mark of e, one of the runs that are marked together. A mark made
// elsewhere that would tie with the run's newest one is dated a nanosecond later:
// of lines on a branch nobody can tell which was appended last.
func lineOf(e baseline.Entry, together []baseline.Entry, m baseline.Mark) markLine {
	l := markLine{Run: e.Run.ID, Digest: e.Digest, State: m.State, At: m.At, Since: m.Since.UTC(), Note: m.Note, Batch: m.Batch}
	if e.Mark.State != baseline.Unmarked && l.At.Equal(e.Mark.At) {
		l.At = e.Mark.At.Add(time.Nanosecond)
	}
	if m.State != baseline.Rebaselined {
		l.Since = time.Time{}
	} else if m.Since.IsZero() {
		l.Since = earliest(together, e)
	}
	return l
}

// earliest is the earliest start among the runs of e's app and scenario. For
// runs without a start it is before every time, since the zero time would mean
// that the mark does not say.
func earliest(together []baseline.Entry, e baseline.Entry) time.Time {
	first := e.Run.Started
	for _, o := range together {
		if o.Run.App.Package == e.Run.App.Package && o.Run.Scenario == e.Run.Scenario && o.Run.Started.Before(first) {
			first = o.Run.Started
		}
	}
	if first.IsZero() {
		first = first.Add(-time.Nanosecond)
	}
	return first.UTC()
}
