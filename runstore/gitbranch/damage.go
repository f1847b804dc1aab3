package gitbranch

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/sqlite"
)

// renew rebuilds the index from the branch: it is a copy, and damage to it loses nothing.
func (s *Store) renew(ctx context.Context) error {
	return s.alone(ctx, func(w *work) error {
		if err := w.startOver(ctx); err != nil {
			return err
		}
		w.tip = ""
		return w.sync(ctx)
	})
}

// isDamage reports whether the error is of an index that can be rebuilt.
func isDamage(err error) bool {
	return errors.Is(err, runstore.ErrDamaged) || errors.Is(err, runstore.ErrNotHistory)
}

// noteDamage records what is unreadable on the branch.
func (w *work) noteDamage(ctx context.Context) error {
	known, err := w.known(ctx)
	if err != nil {
		return err
	}
	var found []runstore.Damage
	for path, damage := range known {
		if damage != "" {
			found = append(found, runstore.Damage{Problem: path + ": " + damage})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.damage = found
	return nil
}

// damaged returns what is unreadable on the branch.
func (s *Store) damaged() []runstore.Damage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damage
}

// entries returns the damage of the branch, then the index's entries. A run that is damaged only in
// the index comes from a rebuilt one.
func (s *Store) entries(ctx context.Context, read func(*sqlite.Store) iter.Seq2[runstore.Entry, error]) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		for _, d := range s.damaged() {
			if !yield(runstore.Entry{}, &runstore.DamagedRun{Err: damageError(d)}) {
				return
			}
		}
		renewed := false
		for e, err := range read(s.current()) {
			var bad *runstore.DamagedRun
			if errors.As(err, &bad) && bad.ID != "" {
				if !renewed {
					renewed = s.renew(ctx) == nil
				}
				if renewed {
					e, err = s.current().Get(ctx, bad.ID)
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// damageError returns the damage of a file on the branch as an error.
func damageError(d runstore.Damage) error {
	return &runstore.Error{
		Err:    fmt.Errorf("%w: %s", runstore.ErrDamaged, d.Problem),
		Advice: "The branch's past may hold the file as it was; apkgate baseline copy takes what is sound elsewhere.",
	}
}

// ANRs implements runstore.Store.
func (s *Store) ANRs(ctx context.Context, q runstore.ANRQuery) ([]runstore.ANRRun, error) {
	found, err := s.current().ANRs(ctx, q)
	if isDamage(err) {
		if renewed := s.renew(ctx); renewed == nil {
			found, err = s.current().ANRs(ctx, q)
		}
	}
	if damage := s.damaged(); err == nil && len(damage) > 0 {
		err = &runstore.Incomplete{Damage: damage}
	}
	return found, err
}

// References implements runstore.Store.
func (s *Store) References(ctx context.Context, q runstore.Query) ([]run.Summary, error) {
	found, err := s.current().References(ctx, q)
	if isDamage(err) {
		if renewed := s.renew(ctx); renewed == nil {
			found, err = s.current().References(ctx, q)
		}
	}
	if damage := s.damaged(); err == nil && len(damage) > 0 {
		err = &runstore.Incomplete{Damage: damage}
	}
	return found, err
}
