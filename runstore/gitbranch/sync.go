package gitbranch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// sync fetches the branch and indexes what is new.
func (w *work) sync(ctx context.Context) error {
	tip, err := w.repo.remoteTip(ctx, w.tip)
	if err != nil {
		return err
	}
	if tip == "" {
		return w.syncEmpty(ctx)
	}
	if tip == w.tip {
		return nil
	}
	if tip, err = w.repo.fetch(ctx); err != nil {
		return err
	}
	there, err := w.repo.list(ctx, tip)
	if err != nil {
		return err
	}
	known, err := w.known(ctx)
	if err != nil {
		return err
	}
	for path := range known {
		if _, ok := there.segments[path]; !ok { // compacted, pruned or begun again
			if err := w.startOver(ctx); err != nil {
				return err
			}
			clear(known)
			break
		}
	}
	if err := w.take(ctx, tip, there, known); err != nil {
		return err
	}
	w.tip = tip
	return nil
}

// syncEmpty follows a branch that does not exist, or no longer.
func (w *work) syncEmpty(ctx context.Context) error {
	known, err := w.known(ctx)
	if err == nil && len(known) > 0 {
		err = w.startOver(ctx)
	}
	w.tip = ""
	return err
}

// take indexes the segments of a commit, except the known ones: first all runs, then their
// outcomes, then all marks in their order.
func (w *work) take(ctx context.Context, tip string, there contents, known map[string]string) error {
	var paths []string
	for path := range there.segments {
		if _, ok := known[path]; !ok {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	missing, err := w.repo.missing(ctx, tip)
	if err != nil {
		return err
	}
	slices.SortFunc(paths, func(a, b string) int { // runs first, as the rest refers to them
		return cmp.Or(strings.Compare(b[:len(runsFolder)], a[:len(runsFolder)]), strings.Compare(a, b))
	})
	damage := map[string][]error{}
	var marks []placedMark
	var outcomes []placedOutcome
	err = w.read(ctx, paths, there.segments, missing, func(path string, data []byte, err error) error {
		switch isRuns := strings.HasPrefix(path, runsFolder); {
		case isRuns && data != nil:
			bad, failed := w.takeRuns(ctx, data, err == nil)
			if failed != nil {
				return failed
			}
			damage[path] = bad
		case err != nil:
		case strings.HasPrefix(path, outcomesFolder):
			var lines []outcomeLine
			lines, err = outcomesOf(data)
			for _, l := range lines {
				outcomes = append(outcomes, placedOutcome{l, path})
			}
		default:
			var lines []markLine
			lines, err = marksOf(data)
			for _, l := range lines {
				marks = append(marks, placedMark{l, path})
			}
		}
		if err != nil {
			damage[path] = append(damage[path], err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.takeOutcomes(ctx, outcomes, damage); err != nil {
		return err
	}
	if err := w.takeMarks(ctx, marks, damage); err != nil {
		return err
	}
	for _, path := range paths {
		if err := w.note(ctx, path, brief(damage[path])); err != nil {
			return err
		}
	}
	return nil
}

// maxDamage is how many characters are recorded of the damage of one segment.
const maxDamage = 1 << 10

func brief(errs []error) string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return prose.Clip(strings.ReplaceAll(strings.Join(texts, "; "), "\n", "; "), maxDamage)
}

// read reads segments one by one. Those left out by the remote, too large, or not matching their
// name come with an error.
func (w *work) read(ctx context.Context, paths []string, oids map[string]string, missing map[string]bool,
	each func(path string, data []byte, err error) error,
) error {
	var want, from []string
	for _, path := range paths {
		if oid := oids[path]; missing[oid] {
			if err := each(path, nil, errMissing); err != nil {
				return err
			}
		} else {
			want, from = append(want, oid), append(from, path)
		}
	}
	if len(want) == 0 {
		return nil
	}
	return w.repo.blobs(ctx, want, maxSegment, func(i int, data []byte, err error) error {
		if err == nil {
			err = checkName(from[i], data)
		}
		return each(from[i], data, err)
	})
}

// batchRuns is how many runs are indexed in one transaction.
const batchRuns = 500

// takeRuns adds the runs of a segment to the index, and decodes the next ones in parallel. A run
// that can't be added is damage; err is of the index itself. In a segment that does not match its
// name, only runs count that match their own name.
func (w *work) takeRuns(ctx context.Context, data []byte, sound bool) (damage []error, err error) {
	batches := make(chan []run.Run, 2)
	var broken error // what ended the segment early
	go func() {
		defer close(batches)
		var batch []run.Run
		for r, err := range runsOf(data) {
			if err != nil {
				broken = err
				break
			}
			if !sound && !namesItself(r) {
				continue
			}
			if batch = append(batch, r); len(batch) == batchRuns {
				batches <- batch
				batch = nil
			}
		}
		batches <- batch
	}()
	for batch := range batches { // to the end, since the sender waits for it
		if err == nil && len(batch) > 0 {
			var bad []error
			bad, err = w.addEach(ctx, batch)
			damage = append(damage, bad...)
		}
	}
	if broken != nil {
		damage = append(damage, broken)
	}
	return damage, err
}

// namesItself reports whether the run's id is the one derived from its content.
func namesItself(r run.Run) bool {
	id := r.ID
	r.ID = ""
	named, err := r.Named()
	return err == nil && named.ID == id
}

// addEach adds the runs to the index, one by one where adding them together fails.
func (w *work) addEach(ctx context.Context, runs []run.Run) (damage []error, err error) {
	_, err = w.current().Add(ctx, runs...)
	if !ofContent(err) {
		return nil, err
	}
	for _, r := range runs {
		_, err := w.current().Add(ctx, r)
		if ofContent(err) {
			damage = append(damage, err)
		} else if err != nil {
			return damage, err
		}
	}
	return damage, nil
}

// ofContent reports whether the error is due to what was to be written and not to the index.
func ofContent(err error) bool {
	for _, known := range []error{runstore.ErrConflict, runstore.ErrNotComplete} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// placedMark is a mark and its segment.
type placedMark struct {
	markLine
	path string
}

// maxTogether is how many runs get their marks in one transaction.
const maxTogether = 500

// takeMarks applies marks in their order, equal ones together.
func (w *work) takeMarks(ctx context.Context, marks []placedMark, damage map[string][]error) error {
	slices.SortFunc(marks, func(a, b placedMark) int { return inOrder(a.markLine, b.markLine) })
	for len(marks) > 0 {
		n := 1
		for n < len(marks) && n < maxTogether && marks[n].mark() == marks[0].mark() {
			n++
		}
		if err := w.markEach(ctx, marks[:n], damage); err != nil {
			return err
		}
		marks = marks[n:]
	}
	return nil
}

func (w *work) markEach(ctx context.Context, alike []placedMark, damage map[string][]error) error {
	ids := make([]string, len(alike))
	for i, m := range alike {
		ids[i] = m.Run
	}
	digests, err := w.digestsOf(ctx, ids)
	if err != nil {
		return err
	}
	ids = ids[:0]
	for _, m := range alike {
		if digests[m.Run] == m.Digest {
			ids = append(ids, m.Run)
		} else {
			damage[m.path] = append(damage[m.path], fmt.Errorf("a mark of run %.60q with digest %.16s: %w", m.Run, m.Digest, runstore.ErrNotFound))
		}
	}
	err = w.current().Mark(ctx, ids, alike[0].mark())
	if !ofContent(err) {
		return err
	}
	for _, id := range ids {
		err := w.current().Mark(ctx, []string{id}, alike[0].mark())
		if ofContent(err) {
			i := slices.IndexFunc(alike, func(m placedMark) bool { return m.Run == id })
			damage[alike[i].path] = append(damage[alike[i].path], err)
		} else if err != nil {
			return err
		}
	}
	return nil
}
