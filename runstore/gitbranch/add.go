package gitbranch

import (
	"context"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Add implements runstore.Store: one push for all the runs. It returns when the
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
	if r.Explains {
		return namedRun{}, runstore.ErrExplains
	}
	r = r.Recorded()
	digest, err := r.Digest()
	if err != nil {
		return namedRun{}, err
	}
	if r.ID == "" {
		r.ID = digest[:16]
	}
	line, err := run.Encode(r)
	return namedRun{r, digest, line}, err
}

// unknown returns the runs that the index lacks, each once.
func (w *work) unknown(ctx context.Context, runs []namedRun) ([]namedRun, error) {
	var fresh []namedRun
	var ids []string
	for _, n := range runs {
		ids = append(ids, n.ID)
	}
	digests, err := w.digestsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, n := range runs {
		other, known := digests[n.ID]
		switch {
		case !known:
			digests[n.ID] = n.digest
			fresh = append(fresh, n)
		case other != n.digest:
			return nil, fmt.Errorf("run %q: %w: its digest is %.16s, this one's %.16s", n.ID, runstore.ErrConflict, other, n.digest)
		}
	}
	return fresh, nil
}

// maxAsked is how many ids are in one query.
const maxAsked = 1_000

// digestsOf returns the digests of the runs in the index, by id.
func (w *work) digestsOf(ctx context.Context, ids []string) (map[string]string, error) {
	there, err := w.listed(ctx, ids)
	out := make(map[string]string, len(there))
	for id, e := range there {
		out[id] = e.Digest
	}
	return out, err
}

// listed returns the entries of the runs in the index, by id.
func (w *work) listed(ctx context.Context, ids []string) (map[string]runstore.Entry, error) {
	out := map[string]runstore.Entry{}
	for some := range slices.Chunk(ids, maxAsked) {
		for e, err := range w.current().List(ctx, runstore.Filter{IDs: some}) {
			if err != nil {
				return nil, err
			}
			out[e.Run.ID] = e
		}
	}
	return out, nil
}
