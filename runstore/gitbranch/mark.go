package gitbranch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Mark implements runstore.Store: one push for all the runs.
func (s *Store) Mark(ctx context.Context, ids []string, m runstore.Mark) error {
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

// markable returns the runs of the ids, each once; all of them can be marked so.
func (w *work) markable(ctx context.Context, ids []string, m runstore.Mark) ([]runstore.Entry, error) {
	var entries []runstore.Entry
	seen := map[string]bool{}
	for _, id := range ids {
		e, err := w.current().Get(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("run %q: %w", id, err)
		}
		if m.State != runstore.Rejected && e.Run.Status != run.Complete {
			return nil, fmt.Errorf("run %q, which is %s, as %s: %w", e.Run.ID, e.Run.Status, m.State, runstore.ErrNotComplete)
		}
		e.Run.Iterations = nil // not needed, and there may be many runs
		if !seen[e.Run.ID] {
			seen[e.Run.ID] = true
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// latest returns the time of the latest mark of the runs, zero for none. The index is at the
// branch's tip whenever a push succeeds, so that no mark on the branch is later.
func latest(entries []runstore.Entry) (last time.Time) {
	for _, e := range entries {
		if e.Mark.At.After(last) {
			last = e.Mark.At
		}
	}
	return last
}

// lineOf returns the mark of e, one of the runs that are marked together. A mark from elsewhere
// that would tie with the run's newest one is dated a nanosecond later, as lines on a branch do not
// show which was appended last.
func lineOf(e runstore.Entry, together []runstore.Entry, m runstore.Mark) markLine {
	l := markLine{Run: e.Run.ID, Digest: e.Digest, State: m.State, At: m.At, Since: m.Since.UTC(), Note: m.Note, Batch: m.Batch}
	if e.Mark.State != runstore.Unmarked && l.At.Equal(e.Mark.At) {
		l.At = e.Mark.At.Add(time.Nanosecond)
	}
	if m.State != runstore.Rebaselined {
		l.Since = time.Time{}
	} else if m.Since.IsZero() {
		l.Since = earliest(together, e)
	}
	return l
}

// earliest returns the earliest start among the runs of e's app and scenario. For runs without a
// start it is before every time, since the zero time would mean that the mark has none.
func earliest(together []runstore.Entry, e runstore.Entry) time.Time {
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

// Judge implements runstore.Store: one push for all the runs. Where nothing is new, nothing is
// pushed.
func (s *Store) Judge(ctx context.Context, said map[string]run.Judged) error {
	if err := runstore.CheckSaid(said); err != nil {
		return err
	}
	err := s.write(ctx, func(w *work) (change, error) {
		lines, err := w.newOutcomes(ctx, said)
		if err != nil || len(lines) == 0 {
			return change{}, err
		}
		segments := packing{folder: outcomesFolder}
		var placed []placedOutcome
		for _, l := range lines {
			data, err := l.encode()
			if err != nil {
				return change{}, err
			}
			segments.add(data)
			placed = append(placed, placedOutcome{outcomeLine: l})
		}
		return change{
			message: fmt.Sprintf("Keep %d outcomes", len(lines)),
			files:   segments.flush(),
			apply:   func() error { return w.takeOutcomes(ctx, placed, map[string][]error{}) },
		}, nil
	})
	if err != nil {
		return s.wrap("keep outcomes in", err)
	}
	return nil
}

// newOutcomes returns those that take precedence over the ones on the branch, in the order of ids.
func (w *work) newOutcomes(ctx context.Context, said map[string]run.Judged) ([]outcomeLine, error) {
	there, err := w.listed(ctx, slices.Collect(maps.Keys(said)))
	if err != nil {
		return nil, err
	}
	now := w.options.Now()
	var lines []outcomeLine
	for _, id := range slices.Sorted(maps.Keys(said)) {
		e, ok := there[id]
		if !ok {
			return nil, fmt.Errorf("run %q: %w", id, runstore.ErrNotFound)
		}
		if j, isNew := runstore.Said(now, e.Run.Judged, said[id]); isNew {
			lines = append(lines, outcomeLine{Run: id, Digest: e.Digest, Outcome: j.Outcome, At: j.At})
		}
	}
	return lines, nil
}

// placedOutcome is an outcome and its segment.
type placedOutcome struct {
	outcomeLine
	path string
}

// takeOutcomes adds outcomes to the index, which keeps the one that counts for each run. An outcome
// of an unknown run is damage.
func (w *work) takeOutcomes(ctx context.Context, outcomes []placedOutcome, damage map[string][]error) error {
	ids := make([]string, len(outcomes))
	for i, o := range outcomes {
		ids[i] = o.Run
	}
	digests, err := w.digestsOf(ctx, ids)
	if err != nil {
		return err
	}
	said := map[string]run.Judged{}
	for _, o := range outcomes {
		if digests[o.Run] != o.Digest {
			damage[o.path] = append(damage[o.path], fmt.Errorf("an outcome of run %.60q with digest %.16s: %w", o.Run, o.Digest, runstore.ErrNotFound))
			continue
		}
		j := o.judged()
		if before, ok := said[o.Run]; !ok || j.Over(&before) {
			said[o.Run] = j
		}
	}
	if len(said) == 0 {
		return nil
	}
	return w.current().Judge(ctx, said)
}

// keptOutcomes returns the segments of the outcomes of all runs except those that are gone.
func (w *work) keptOutcomes(ctx context.Context, gone map[string]bool) ([]file, error) {
	segments := packing{folder: outcomesFolder}
	for e, err := range w.current().List(ctx, runstore.Filter{}) {
		if err != nil {
			return nil, err
		}
		if e.Run.Judged == nil || gone[e.Run.ID] {
			continue
		}
		line, err := outcomeLine{Run: e.Run.ID, Digest: e.Digest, Outcome: e.Run.Judged.Outcome, At: e.Run.Judged.At}.encode()
		if err != nil {
			return nil, err
		}
		segments.add(line)
	}
	return segments.flush(), nil
}
