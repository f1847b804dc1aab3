package runstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/apkgate/apkgate/run"
)

// DamagedRun is the error of an unreadable run in a sequence. The sequence continues after it,
// unlike after any other error.
type DamagedRun struct {
	ID  string // "" where even that is unknown
	Err error  // wraps ErrDamaged
}

// Error names the run.
func (d *DamagedRun) Error() string { return d.damage().String() }

// Unwrap returns the run's error.
func (d *DamagedRun) Unwrap() error { return d.Err }

func (d *DamagedRun) damage() Damage { return Damage{ID: d.ID, Problem: d.Err.Error()} }

// Incomplete is the error of an answer that is returned nevertheless: it is made of the sound runs
// of a damaged history.
type Incomplete struct{ Damage []Damage }

// Error returns the first damage, and how many there are.
func (i *Incomplete) Error() string {
	text := ErrDamaged.Error()
	if len(i.Damage) > 0 {
		text = i.Damage[0].String()
	}
	if n := len(i.Damage) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

// Unwrap returns ErrDamaged.
func (i *Incomplete) Unwrap() error { return ErrDamaged }

// Sound is a store without its damaged runs: its sequences skip them and its answers are made of
// the others. It records the damage.
type Sound struct {
	Store
	mu    sync.Mutex
	found []Damage
	known map[Damage]bool
	total int
}

// SoundOf returns the sound part of the store.
func SoundOf(s Store) *Sound { return &Sound{Store: s, known: map[Damage]bool{}} }

// maxRemembered limits the damage that is recorded individually.
const maxRemembered = 1_000

func (s *Sound) note(damage ...Damage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range damage {
		if s.known[d] {
			continue
		}
		s.total++
		if len(s.found) < maxRemembered {
			s.known[d] = true
			s.found = append(s.found, d)
		}
	}
}

// Damage returns what was skipped so far, up to a limit, and its total number.
func (s *Sound) Damage() (found []Damage, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Damage{}, s.found...), s.total
}

// PassOver records that a run could not be read and is skipped.
func (s *Sound) PassOver(id string, err error) { s.note(Damage{ID: id, Problem: err.Error()}) }

// List returns the store's list, without damaged runs.
func (s *Sound) List(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return s.passOver(s.Store.List(ctx, f))
}

// Export returns the store's export, without damaged runs.
func (s *Sound) Export(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return s.passOver(s.Store.Export(ctx, f))
}

// References returns the store's references among the sound runs.
func (s *Sound) References(ctx context.Context, q Query) ([]run.Summary, error) {
	found, err := s.Store.References(ctx, q)
	var incomplete *Incomplete
	if errors.As(err, &incomplete) {
		s.note(incomplete.Damage...)
		err = nil
	}
	return found, err
}

func (s *Sound) passOver(entries iter.Seq2[Entry, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range entries {
			var damaged *DamagedRun
			if errors.As(err, &damaged) {
				s.note(damaged.damage())
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Runs returns the runs of the entries.
func Runs(entries iter.Seq2[Entry, error]) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) {
		for e, err := range entries {
			if !yield(e.Run, err) {
				return
			}
		}
	}
}

// FromRecords answers the query from the records of a store whose summaries are damaged, with the
// reason why. It reads every reference of the query's app and scenario.
func FromRecords(ctx context.Context, s Store, q Query, why error) ([]run.Summary, error) {
	incomplete := &Incomplete{Damage: []Damage{{Problem: why.Error()}}}
	index := NewIndex(q.Centre)
	references := Filter{Package: q.Package, Scenario: q.Scenario, States: []State{Accepted, Rebaselined}, Level: true}
	for e, err := range s.Export(ctx, references) {
		var damaged *DamagedRun
		if errors.As(err, &damaged) {
			incomplete.Damage = append(incomplete.Damage, damaged.damage())
			continue
		}
		if err == nil {
			_, err = index.Add(e.Run)
		}
		if err != nil {
			return nil, err
		}
	}
	found, err := index.References(q)
	if err != nil {
		return nil, err
	}
	return found, incomplete
}
