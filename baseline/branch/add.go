package branch

import (
	"context"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/run"
)

// Add implements baseline.Store: one push for all the runs. It returns when the
// remote has them.
func (s *Store) Add(ctx context.Context, runs ...run.Run) ([]string, error) {
	named := make([]namedRun, len(runs))
	for i, r := range runs {
		n, err := newNamedRun(r)
		if err != nil {
			return nil, s.wrap("add to", fmt.Errorf("run %q: %w", r.ID, err))
		}
		named[i] = n
	}
	var added []string
	err := s.write(ctx, func(w *work) (change, error) {
		fresh, err := w.unknown(ctx, named)
		if err != nil {
			return change{}, err
		}
		added = nil
		segments := packing{folder: runsFolder}
		records := make([]run.Run, len(fresh))
		for i, n := range fresh {
			segments.add(n.line)
			records[i], added = n.Run, append(added, n.ID)
		}
		return change{
			message: fmt.Sprintf("Add %d runs", len(fresh)),
			files:   segments.flush(),
			apply: func() error {
				_, err := w.current().Add(ctx, records...)
				return err
			},
		}, nil
	})
	if err != nil {
		return nil, s.wrap("add to", err)
	}
	return added, nil
}

// namedRun is a run with its name, its digest and its line.
type namedRun struct {
	run.Run
	digest string
	line   []byte
}

func newNamedRun(r run.Run) (namedRun, error) {
	digest, err := r.Digest()
	if err != nil {
		return namedRun{}, err
	}
	if r.ID == "" {
		r.ID = digest[:16]
	}
	line, err := run.Encode(r)
	if err == nil && len(line) > run.MaxBytes {
		err = fmt.Errorf("the record is larger than %d MiB", run.MaxBytes>>20)
	}
	return namedRun{r, digest, line}, err
}

// unknown are those of the runs that the index does not hold, each once.
func (w *work) unknown(ctx context.Context, runs []namedRun) ([]namedRun, error) {
	var fresh []namedRun
	digestOf, seen := map[string]string{}, map[string]bool{}
	for _, n := range runs {
		if seen[n.digest] {
			continue
		}
		seen[n.digest] = true
		held, err := w.holds(ctx, n.digest)
		if err != nil {
			return nil, err
		}
		if held {
			continue
		}
		other, ok := digestOf[n.ID]
		if !ok {
			if other, err = w.digestOf(ctx, n.ID); err != nil {
				return nil, err
			}
		}
		if other != "" {
			return nil, fmt.Errorf("run %q: %w: its digest is %.16s, this one's %.16s", n.ID, baseline.ErrConflict, other, n.digest)
		}
		digestOf[n.ID] = n.digest
		fresh = append(fresh, n)
	}
	return fresh, nil
}

// holds reports whether the index holds the content of that digest.
func (w *work) holds(ctx context.Context, digest string) (bool, error) {
	e, err := w.current().Get(ctx, digest)
	if errors.Is(err, baseline.ErrNotFound) || errors.Is(err, baseline.ErrAmbiguous) {
		return false, nil
	}
	return err == nil && e.Digest == digest, err
}

// digestOf is the digest of the run of that whole id, "" where there is none.
func (w *work) digestOf(ctx context.Context, id string) (string, error) {
	for e, err := range w.current().List(ctx, baseline.Filter{IDs: []string{id}}) {
		return e.Digest, err
	}
	return "", nil
}
