package gitbranch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/runstore"
)

// Verify implements runstore.Store. It reads every file on the branch, and checks that the index
// agrees with it and is intact itself.
func (s *Store) Verify(ctx context.Context) ([]runstore.Damage, error) {
	var found []runstore.Damage
	err := s.alone(ctx, func(w *work) error {
		if err := w.sync(ctx); err != nil || w.tip == "" {
			return err
		}
		there, err := w.repo.list(ctx, w.tip)
		if err != nil {
			return err
		}
		for _, path := range there.strays {
			found = append(found, runstore.Damage{Problem: fmt.Sprintf("the branch holds %.200q, which is no file of a history", path)})
		}
		d, err := w.verifySegments(ctx, there)
		found = append(found, d...)
		return err
	})
	if err == nil {
		var d []runstore.Damage
		d, err = s.current().Verify(ctx)
		found = append(found, d...)
	}
	if err != nil {
		return nil, s.wrap("verify", err)
	}
	return found, nil
}

func (w *work) verifySegments(ctx context.Context, there contents) (found []runstore.Damage, err error) {
	known, err := w.known(ctx)
	if err != nil {
		return nil, err
	}
	missing, err := w.repo.missing(ctx, w.tip)
	if err != nil {
		return nil, err
	}
	var paths []string
	for path := range there.segments {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	err = w.read(ctx, paths, there.segments, missing, func(path string, data []byte, err error) error {
		switch {
		case err != nil:
		case strings.HasPrefix(path, runsFolder):
			err = w.verifyRuns(ctx, data)
		case strings.HasPrefix(path, outcomesFolder):
			_, err = outcomesOf(data)
		default:
			_, err = marksOf(data)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case known[path] != "":
			found = append(found, runstore.Damage{Problem: path + ": " + known[path]})
		case err != nil:
			found = append(found, runstore.Damage{Problem: path + ": " + brief([]error{err})})
		}
		return nil
	})
	return found, err
}

// verifyRuns checks that the index has every run of a segment.
func (w *work) verifyRuns(ctx context.Context, data []byte) error {
	digests := map[string]string{}
	for r, err := range runsOf(data) {
		if err != nil {
			return err
		}
		digest, err := r.Digest()
		if err != nil {
			return err
		}
		if r.ID == "" {
			r.ID = digest[:16]
		}
		digests[r.ID] = digest
	}
	held, err := w.digestsOf(ctx, slices.Collect(maps.Keys(digests)))
	if err != nil {
		return err
	}
	var errs []error
	for id, digest := range digests {
		if held[id] != digest {
			errs = append(errs, fmt.Errorf("run %.60q is not in the local copy", id))
		}
	}
	return errors.Join(errs...)
}
