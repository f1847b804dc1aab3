package runstore

import (
	"context"
	"iter"

	"github.com/apkgate/apkgate/run"
)

// Imported counts the results of Import.
type Imported struct {
	Read   int // runs read
	Added  int // of these, new to the store
	Marked int // of these, marked
	Left   int // of these, not marked because of leave (see Import)
}

// An import is committed in batches: one sync of the disk for each, and memory for one batch and
// one run only.
const (
	batchRuns    = 500
	batchNumbers = 1_000_000
)

// Import adds every run of the sequence to the store. Where mark is not nil it marks those that are
// complete and still undecided, including those that the store already had, except those for which
// leave (nil: none) returns true. An interrupted import keeps what was done; repeating it completes
// it.
func Import(ctx context.Context, s Store, runs iter.Seq2[run.Run, error], mark *Mark, leave func(Entry) bool) (Imported, error) {
	var done Imported
	var batch []run.Run
	held := 0
	flush := func() error {
		err := importBatch(ctx, s, batch, mark, leave, &done)
		clear(batch)
		batch, held = batch[:0], 0
		return err
	}
	for r, err := range runs {
		if err != nil {
			return done, err
		}
		batch = append(batch, r)
		held += r.Numbers()
		if len(batch) >= batchRuns || held >= batchNumbers {
			if err := flush(); err != nil {
				return done, err
			}
		}
	}
	return done, flush()
}

func importBatch(ctx context.Context, s Store, batch []run.Run, mark *Mark, leave func(Entry) bool, done *Imported) error {
	if len(batch) == 0 {
		return nil
	}
	ids := make([]string, len(batch))
	for i := range batch {
		named, err := batch[i].Named()
		if err != nil {
			return err
		}
		batch[i], ids[i] = named, named.ID
	}
	added, err := addJudged(ctx, s, batch)
	if err != nil {
		return err
	}
	done.Read += len(batch)
	done.Added += len(added)
	if mark == nil {
		return nil
	}
	var undecided []string
	for e, err := range s.List(ctx, Filter{IDs: ids, Status: run.Complete, States: []State{Unmarked}}) {
		if err != nil {
			return err
		}
		if leave != nil && leave(e) {
			done.Left++
			continue
		}
		undecided = append(undecided, e.Run.ID)
	}
	if len(undecided) == 0 {
		return nil
	}
	if err := s.Mark(ctx, undecided, *mark); err != nil {
		return err
	}
	done.Marked += len(undecided)
	return nil
}

// Take adds what another store exports and gives each run the mark that counts there, with its
// date, level and note. Where both stores have decided on a run, the later mark by its date counts,
// as in any other union of histories: independent decisions have no other order. Repeating it
// adopts later decisions of the source, unless the destination has decided later.
func Take(ctx context.Context, to Store, entries iter.Seq2[Entry, error]) (Imported, error) {
	var done Imported
	var batch []Entry
	held := 0
	flush := func() error {
		err := copyBatch(ctx, to, batch, &done)
		clear(batch)
		batch, held = batch[:0], 0
		return err
	}
	for e, err := range entries {
		if err != nil {
			return done, err
		}
		batch = append(batch, e)
		held += e.Run.Numbers()
		if len(batch) >= batchRuns || held >= batchNumbers {
			if err := flush(); err != nil {
				return done, err
			}
		}
	}
	return done, flush()
}

// addJudged adds runs, which have ids, with their outcomes in the source.
func addJudged(ctx context.Context, s Store, runs []run.Run) (added []string, err error) {
	said := map[string]run.Judged{}
	for _, r := range runs {
		if r.Judged != nil {
			said[r.ID] = *r.Judged
		}
	}
	if added, err = s.Add(ctx, runs...); err != nil || len(said) == 0 {
		return added, err
	}
	return added, s.Judge(ctx, said)
}

func copyBatch(ctx context.Context, to Store, batch []Entry, done *Imported) error {
	if len(batch) == 0 {
		return nil
	}
	runs, ids := make([]run.Run, len(batch)), make([]string, len(batch))
	for i, e := range batch {
		runs[i], ids[i] = e.Run, e.Run.ID
	}
	added, err := addJudged(ctx, to, runs)
	if err != nil {
		return err
	}
	done.Read += len(batch)
	done.Added += len(added)
	there := map[string]Mark{}
	for e, err := range to.List(ctx, Filter{IDs: ids}) {
		if err != nil {
			return err
		}
		there[e.Run.ID] = e.Mark
	}
	alike := map[Mark][]string{} // ids of the runs that get the same mark
	for _, e := range batch {
		m, ok := there[e.Run.ID]
		if ok && e.Mark.State != Unmarked && (m.State == Unmarked || m.At.Before(e.Mark.At)) {
			alike[e.Mark] = append(alike[e.Mark], e.Run.ID)
		}
	}
	for m, ids := range alike {
		if err := to.Mark(ctx, ids, m); err != nil {
			return err
		}
		done.Marked += len(ids)
	}
	return nil
}
