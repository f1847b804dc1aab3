// Package runstore is the history of runs that a new run is compared with.
//
// It owns the store's interface, which runs may be references and in which order, and histories as
// JSON Lines. Its subpackages (sqlite, memory) store a history; the gate judges by it.
//
// A run never changes, and one without an id is named by its content. A history is a set that only
// grows, plus marks that are appended. So adding a run twice is adding it once, two histories merge
// by union, and a run that was not accepted is never a reference.
//
// The reasons are in docs/design/stores.md.
package runstore

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// Store stores runs and their marks. Its methods are safe for concurrent use, and a change is
// durable once its method has returned no error. Suite in package storetest tests every store for
// this.
//
// Where a method takes ids, each is a run's id, or the beginning of the id or the digest of exactly
// one run (MinPrefix characters or more).
type Store interface {
	// Add stores the runs atomically, and returns the ids of those that are new to the store. A run
	// without an id gets one (run.Named). A run whose id is there with the same content is ignored,
	// with other content it is ErrConflict. Runs with different ids are different runs, even where
	// every number in them is equal.
	Add(ctx context.Context, runs ...run.Run) (added []string, err error)
	// Mark appends the mark to each run, atomically and with one date. Without a time of its own
	// (Mark.At) it counts from then on, whatever the clocks of those who marked the runs before.
	// Only a complete run can be accepted or rebaselined (ErrNotComplete).
	Mark(ctx context.Context, ids []string, m Mark) error
	// Judge stores the gate's outcome with each run, by its whole id, atomically. It does not
	// change how a run is marked. An outcome with a time (run.Judged.At) is from elsewhere, and
	// counts if it takes precedence over the stored one (run.Judged.Over); else it counts from now
	// on. Runs are listed and exported with the outcome that counts.
	Judge(ctx context.Context, said map[string]run.Judged) error
	// Get returns one run in full.
	Get(ctx context.Context, id string) (Entry, error)
	// List returns the runs that match the filter, newest first, as run.Run.Listed has them. The
	// first error ends the sequence, except a DamagedRun.
	List(ctx context.Context, f Filter) iter.Seq2[Entry, error]
	// References returns the runs to compare a new one with, most similar context first (see
	// Query). Where damage may affect the answer, it is made of the sound runs, and returned with
	// Incomplete.
	References(ctx context.Context, q Query) ([]run.Summary, error)
	// ANRs returns the ANRs in the runs of an app (see ANRQuery), newest run first. No record of a
	// run without ANRs is opened. For a damaged history the answer comes with Incomplete, as that
	// of References does.
	ANRs(ctx context.Context, q ANRQuery) ([]ANRRun, error)
	// Export returns the complete runs that match the filter, oldest first: every run whose record
	// is sound. The first error ends the sequence, except a DamagedRun.
	Export(ctx context.Context, f Filter) iter.Seq2[Entry, error]
	// Prune removes old runs and returns how many. It calls each, if not nil, for every run before
	// it removes any; an error from each is returned and nothing is removed.
	Prune(ctx context.Context, r Retention, each func(Entry) error) (removed int, err error)
	// Verify reads the whole store and lists the damage. An error means that it could not be read.
	Verify(ctx context.Context) ([]Damage, error)
	// Close releases the store.
	Close() error
}

// MinPrefix is the least number of characters that address a run instead of its whole id.
const MinPrefix = 4

// State is what was decided about a run.
type State string

// The states. A run without a decision is Unmarked; Mark accepts the others.
const (
	Unmarked State = ""
	// Accepted makes the run a reference.
	Accepted State = "accepted"
	// Rejected keeps the run but never as a reference.
	Rejected State = "rejected"
	// Rebaselined accepts the run as the first of a new level, which is intended and no regression:
	// runs of its app and scenario that started before Mark.Since are no longer references.
	Rebaselined State = "rebaselined"
)

// States returns the states that Mark accepts.
func States() []State { return []State{Accepted, Rejected, Rebaselined} }

// Reference reports whether a run in this state can be a reference.
func (s State) Reference() bool { return s == Accepted || s == Rebaselined }

// Mark is a decision about a run. The one with the latest At counts, of equals the one that was
// appended last.
type Mark struct {
	State State
	// At is the time of the decision. If zero, the store sets it (see Dated), so that the last mark
	// made in a store counts. Only a mark from another history has its own time, which determines
	// its place among the run's marks.
	At time.Time
	// Since is for Rebaselined only: the start of the new level. Zero means the
	// earliest start among the runs of an app and scenario marked in one call.
	Since time.Time
	// Note is the reason, in the words of the person who decided; at most run.MaxText bytes.
	Note string
	// Batch identifies the operation that made the decision, such as a refresh; "" where that does
	// not matter. At most run.MaxText bytes.
	Batch string
}

// Said returns the outcome of a run that counts after a new one, where before is the previous one,
// nil for none; and whether it changed. An outcome without a time is from now, and so after the
// previous one, whatever the clocks.
func Said(now time.Time, before *run.Judged, j run.Judged) (_ run.Judged, isNew bool) {
	if j.At.IsZero() {
		if j.At = now; before != nil && !now.After(before.At) {
			j.At = before.At.Add(time.Nanosecond)
		}
	}
	j.At = j.At.UTC()
	return j, j.Over(before)
}

// CheckSaid returns an error for outcomes that no store accepts. Those without a time are from now.
func CheckSaid(said map[string]run.Judged) error {
	for _, id := range slices.Sorted(maps.Keys(said)) {
		j := said[id]
		if j.At.IsZero() {
			j.At = time.Unix(0, 0)
		}
		if err := j.Check(); err != nil {
			return fmt.Errorf("judge run %q: %w", prose.Short(id), err)
		}
	}
	return nil
}

// lastYear limits the dates of marks: a later decision needs a later date, and times have four
// digits for the year.
const lastYear = 9998

// Dated returns the mark as a store appends it to runs whose latest mark is of the time last (zero:
// they have none). A mark without a time gets the store's present time, or the next nanosecond
// after last where that is not later: clocks of computers differ by minutes, and the last decision
// counts.
func (m Mark) Dated(now, last time.Time) Mark {
	if m.At.IsZero() {
		if m.At = now; !last.IsZero() && !now.After(last) {
			m.At = last.Add(time.Nanosecond)
		}
	}
	m.At = m.At.UTC()
	return m
}

// Check returns an error for a mark that no store accepts.
func (m Mark) Check() error {
	switch {
	case m.At.UTC().Year() > lastYear:
		return fmt.Errorf("mark as %s: it is dated %s, want the year %d or before", m.State, m.At.Format(time.RFC3339), lastYear)
	case !slices.Contains(States(), m.State):
		return fmt.Errorf("mark as %q: want one of %q", m.State, States())
	case m.State != Rebaselined && !m.Since.IsZero():
		return fmt.Errorf("mark as %s: only %s has a start of the level", m.State, Rebaselined)
	case len(m.Note) > run.MaxText || !utf8.ValidString(m.Note):
		return fmt.Errorf("mark as %s: the note has %d bytes, want valid UTF-8 of at most %d", m.State, len(m.Note), run.MaxText)
	case len(m.Batch) > run.MaxText || !utf8.ValidString(m.Batch):
		return fmt.Errorf("mark as %s: the batch has %d bytes, want valid UTF-8 of at most %d", m.State, len(m.Batch), run.MaxText)
	}
	return nil
}

// Subject is what runs are compared within: one scenario of one app.
type Subject struct{ Package, Scenario string }

// LevelOf returns the starts of the levels that begin where the runs are rebaselined together: the
// earliest start among those of a subject.
func LevelOf(together []Entry) map[Subject]time.Time {
	out := map[Subject]time.Time{}
	for _, e := range together {
		of := Subject{e.Run.App.Package, e.Run.Scenario}
		if first, ok := out[of]; !ok || e.Run.Started.Before(first) {
			out[of] = e.Run.Started
		}
	}
	return out
}

// Entry is a run in a store.
type Entry struct {
	Run        run.Run // with its outcome, where it was judged
	Mark       Mark    // the one that counts; its State is Unmarked where there is none
	Digest     string  // SHA-256 in hexadecimal, see run.Run.Digest
	Iterations int     // how many the run has, even where List leaves them out
	AddedAt    time.Time
	// Retired is set where the run started before the level of its app and scenario (see
	// Rebaselined), so that it is no reference, however it is marked.
	Retired bool
}

// Filter selects runs. The zero value matches every run; every field that is set must match.
type Filter struct {
	Package  string
	Scenario string
	Session  string
	Commit   string
	Status   run.Status
	States   []State           // any of these; Unmarked may be among them
	Where    map[string]string // context properties that must equal
	IDs      []string          // whole ids, any of these; at most 30,000
	From     time.Time         // started then or later
	Until    time.Time         // started before then
	Level    bool              // only runs that are not retired
	Limit    int               // maximum number, 0: all
}

// Match reports whether the entry matches the filter, except Limit, which the store applies.
func (f Filter) Match(e Entry) bool {
	for name, value := range f.Where {
		if v, ok := e.Run.Context[name]; !ok || v != value {
			return false
		}
	}
	return (f.Package == "" || f.Package == e.Run.App.Package) &&
		(f.Scenario == "" || f.Scenario == e.Run.Scenario) &&
		(f.Session == "" || f.Session == e.Run.Session) &&
		(f.Commit == "" || f.Commit == e.Run.Source.Commit) &&
		(f.Status == "" || f.Status == e.Run.Status) &&
		(f.States == nil || slices.Contains(f.States, e.Mark.State)) &&
		(f.IDs == nil || slices.Contains(f.IDs, e.Run.ID)) &&
		!(f.Level && e.Retired) &&
		(f.From.IsZero() || !e.Run.Started.Before(f.From)) &&
		(f.Until.IsZero() || e.Run.Started.Before(f.Until))
}

// Retention is what Prune keeps: of each app, scenario and context the newest Keep references and
// the newest Keep others. A rebaselined run always stays, since it defines the level of its app.
type Retention struct {
	Keep     int    // 1 or more
	Package  string // only this app's runs, "": every app's
	Scenario string // only this scenario's, "": every one's
	DryRun   bool   // report, but remove nothing
}

// Check returns an error for a retention that no store accepts.
func (r Retention) Check() error {
	if r.Keep < 1 {
		return fmt.Errorf("keep %d runs of each context: want 1 or more", r.Keep)
	}
	return nil
}

// Damage is one fault in a store. ID is "" where it can't be assigned to one run.
type Damage struct {
	ID      string
	Problem string
}

// String returns the damage for people.
func (d Damage) String() string {
	if d.ID == "" {
		return d.Problem
	}
	return "run " + d.ID + ": " + d.Problem
}
