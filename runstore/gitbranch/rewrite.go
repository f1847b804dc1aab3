package gitbranch

import (
	"context"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// looseSegments is how many small files Prune leaves as they are.
const looseSegments = 64

// Prune implements runstore.Store. The branch begins again with what is kept, so that its past
// takes no space either; that needs the right to force a push. Where nothing is removed, it
// compacts a branch of many small files.
func (s *Store) Prune(ctx context.Context, r runstore.Retention, each func(runstore.Entry) error) (int, error) {
	if err := r.Check(); err != nil {
		return 0, err
	}
	if r.DryRun {
		return s.current().Prune(ctx, r, each)
	}
	told := map[string]bool{}
	removed := 0
	err := s.write(ctx, func(w *work) (change, error) {
		gone := map[string]bool{}
		dry := r
		dry.DryRun = true
		_, err := w.current().Prune(ctx, dry, func(e runstore.Entry) error {
			gone[e.Run.ID] = true
			if each == nil || told[e.Run.ID] {
				return nil
			}
			told[e.Run.ID] = true
			return each(e)
		})
		if err != nil {
			return change{}, err
		}
		removed = len(gone)
		known, err := w.known(ctx)
		if err != nil || removed == 0 && len(known) <= looseSegments {
			return change{}, err
		}
		return w.rewriting(ctx, gone, func() error {
			_, err := w.current().Prune(ctx, r, nil)
			return err
		})
	})
	if err != nil {
		return 0, s.wrap("prune", err)
	}
	return removed, nil
}

// Compact merges the files of the branch into few, and drops its past. It needs the right to force
// a push.
func (s *Store) Compact(ctx context.Context) error {
	err := s.write(ctx, func(w *work) (change, error) {
		known, err := w.known(ctx)
		if err != nil || len(known) == 0 {
			return change{}, err
		}
		return w.rewriting(ctx, nil, func() error { return nil })
	})
	if err != nil {
		return s.wrap("compact", err)
	}
	return nil
}

// rewriting returns the change that begins the branch again with all the runs and the marks that
// count, except those of the ids that are gone. Unreadable segments stay as they are, in case a
// newer apkgate can read them.
func (w *work) rewriting(ctx context.Context, gone map[string]bool, apply func() error) (change, error) {
	files, err := w.damagedFiles(ctx)
	if err != nil {
		return change{}, err
	}
	runs, n := packing{folder: runsFolder}, 0
	for e, err := range w.current().Export(ctx, runstore.Filter{}) {
		if err != nil {
			return change{}, err
		}
		if gone[e.Run.ID] {
			continue
		}
		line, err := run.Encode(e.Run.Recorded())
		if err != nil {
			return change{}, err
		}
		runs.add(line)
		n++
	}
	outcomes, err := w.keptOutcomes(ctx, gone)
	if err != nil {
		return change{}, err
	}
	marks := packing{folder: marksFolder}
	for e, err := range w.current().List(ctx, runstore.Filter{States: runstore.States()}) {
		if err != nil {
			return change{}, err
		}
		if gone[e.Run.ID] {
			continue
		}
		line, err := markLine{
			Run: e.Run.ID, Digest: e.Digest, State: e.Mark.State, At: e.Mark.At, Since: e.Mark.Since, Note: e.Mark.Note, Batch: e.Mark.Batch,
		}.encode()
		if err != nil {
			return change{}, err
		}
		marks.add(line)
	}
	files = slices.Concat(files, runs.flush(), outcomes, marks.flush())
	return change{message: fmt.Sprintf("Keep %d runs", n), files: files, root: true, apply: apply}, nil
}

// damagedFiles returns the segments that can't be read completely.
func (w *work) damagedFiles(ctx context.Context) ([]file, error) {
	known, err := w.known(ctx)
	if err != nil {
		return nil, err
	}
	var damaged []string
	for path, damage := range known {
		if damage != "" {
			damaged = append(damaged, path)
		}
	}
	if len(damaged) == 0 {
		return nil, nil
	}
	there, err := w.repo.list(ctx, w.tip)
	if err != nil {
		return nil, err
	}
	missing, err := w.repo.missing(ctx, w.tip)
	if err != nil {
		return nil, err
	}
	slices.Sort(damaged)
	var files []file
	for _, path := range damaged {
		oid := there.segments[path]
		if missing[oid] {
			return nil, &runstore.Error{
				Err:    fmt.Errorf("rewrite the branch: %s is not here: %w", path, errMissing),
				Advice: "Remove this file from the branch with git, then try again.",
			}
		}
		files = append(files, file{path: path, oid: oid, damage: known[path]})
	}
	return files, nil
}
