// Package baseline is the history of runs that a new run is compared with.
//
// It owns the store's interface, what may serve as a reference and in which
// order, and histories as JSON Lines. Where a history is kept is the affair of
// its subpackages (sqlite, memory); what follows from it is the gate's.
//
// It takes a stand: a run never changes, and one that brings no id is named by its
// content. A history
// is a set that only grows, plus marks that are appended; so adding a run twice
// is adding it once, two histories merge by union, and a run that nobody
// accepted is never a reference.
//
// The reasons are in docs/design/stores.md.
package baseline

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

// Store keeps runs and their marks. Its methods may be called at the same time
// from several goroutines, and what one of them has acknowledged by returning
// no error is durable. Suite in package storetest holds every store to this.
//
// Where a method takes ids, each is a run's id, or the beginning of the id or
// the digest of exactly one run (MinPrefix characters or more).
type Store interface {
	// Add keeps the runs, all or none, and returns the ids of those that the
	// store did not hold yet. A run without an id gets one (run.Named). A run
	// whose id is there with the same content is passed over, with other content
	// it is ErrConflict. Runs with different ids are different runs, even where
	// every number in them is equal.
	Add(ctx context.Context, runs ...run.Run) (added []string, err error)
	// Mark appends the mark to each run, all or none and with one date. Without a
	// time of its own (Mark.At) it counts from then on, whatever the clocks say of
	// those who marked the runs before. Only a complete run can be accepted or
	// rebaselined (ErrNotComplete).
	Mark(ctx context.Context, ids []string, m Mark) error
	// Judge keeps with each run, by its whole id, what the gate said of it, all or
	// none. It changes nothing of how a run is marked. What has a time of its own
	// (run.Judged.At) was said elsewhere, and counts where it counts over what is
	// there (run.Judged.Over); else it counts from now on. Runs are listed and
	// exported with what counts.
	Judge(ctx context.Context, said map[string]run.Judged) error
	// Get returns one run in full.
	Get(ctx context.Context, id string) (Entry, error)
	// List returns what the filter lets through, newest first, as
	// run.Run.Listed has them. The first error ends the sequence, but for a
	// DamagedRun.
	List(ctx context.Context, f Filter) iter.Seq2[Entry, error]
	// References returns the runs to compare a new one with, most similar
	// context first (see Query). Where something is damaged on which the answer
	// may depend, it is made of what is sound, and comes with Incomplete.
	References(ctx context.Context, q Query) ([]run.Summary, error)
	// ANRs returns what did not respond in the runs of an app (see ANRQuery), newest
	// run first. No record of a run without ANRs is opened. Of a damaged history the
	// answer comes with Incomplete, as that of References does.
	ANRs(ctx context.Context, q ANRQuery) ([]ANRRun, error)
	// Export returns what the filter lets through in full, oldest first: every run
	// whose record is sound. The first error ends the sequence, but for a
	// DamagedRun.
	Export(ctx context.Context, f Filter) iter.Seq2[Entry, error]
	// Prune removes old runs and returns how many. It tells each of what it
	// removes before it does, where each is not nil; an error from each is
	// returned and nothing is removed.
	Prune(ctx context.Context, r Retention, each func(Entry) error) (removed int, err error)
	// Verify reads all of the store and lists what is damaged. An error means
	// that it could not look.
	Verify(ctx context.Context) ([]Damage, error)
	// Close frees the store.
	Close() error
}

// MinPrefix is the least number of characters by which a run can be addressed
// in place of its whole id.
const MinPrefix = 4

// State is what was decided about a run.
type State string

// The states. A run that nobody has decided on is Unmarked; Mark takes the others.
const (
	Unmarked State = ""
	// Accepted makes the run a reference.
	Accepted State = "accepted"
	// Rejected keeps the run but never as a reference.
	Rejected State = "rejected"
	// Rebaselined accepts the run as the first of a new level, wanted and not
	// to be called a regression: runs of its app and scenario that started
	// before Mark.Since are no longer references.
	Rebaselined State = "rebaselined"
)

// States are the states that Mark takes.
func States() []State { return []State{Accepted, Rejected, Rebaselined} }

// Reference reports whether a run in this state can be a reference.
func (s State) Reference() bool { return s == Accepted || s == Rebaselined }

// Mark is a decision about a run. The one with the latest At counts, and of
// equals the one that was appended last.
type Mark struct {
	State State
	// At is when it was decided. Zero leaves it to the store (see Dated), so that
	// of the marks made in a store the last one counts. Only a mark that was made
	// elsewhere, in another history, brings its time along, and takes its place
	// among the run's marks by it.
	At time.Time
	// Since is for Rebaselined only: the start of the new level. Zero means the
	// earliest start among the runs of an app and scenario marked in one call.
	Since time.Time
	// Note says why, in the words of who decided; at most run.MaxText bytes.
	Note string
	// Batch is common to what one operation decided, such as a refresh, and of no
	// other; "" where nothing depends on that. At most run.MaxText bytes.
	Batch string
}

// Said is what counts of a run once the outcome is told of it, of which before was told
// last, nil for nothing; and whether that is anything new. An outcome without a time was
// told just now, and so after the one before, whatever the clocks say.
func Said(now time.Time, before *run.Judged, j run.Judged) (_ run.Judged, isNew bool) {
	if j.At.IsZero() {
		if j.At = now; before != nil && !now.After(before.At) {
			j.At = before.At.Add(time.Nanosecond)
		}
	}
	j.At = j.At.UTC()
	return j, j.Over(before)
}

// CheckSaid reports what makes the outcomes ones that no store keeps. Those without a
// time are of now.
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

// lastYear bounds the dates of marks: what is decided after a mark has to be
// dated after it, and times are kept with four digits of a year.
const lastYear = 9998

// Dated is the mark as a store appends it to runs whose latest mark, of all of
// them together, is of the time last (zero: they have none). A mark without a
// time gets the store's present time, or the next nanosecond after last where
// that is not later: clocks of computers differ by minutes, and what was decided
// last is what counts.
func (m Mark) Dated(now, last time.Time) Mark {
	if m.At.IsZero() {
		if m.At = now; !last.IsZero() && !now.After(last) {
			m.At = last.Add(time.Nanosecond)
		}
	}
	m.At = m.At.UTC()
	return m
}

// Check reports what makes the mark one that no store takes.
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

// Subject is what is compared with what: one scenario of one app.
type Subject struct{ Package, Scenario string }

// LevelOf are the starts of the levels that the runs begin where they are
// rebaselined together: the earliest start among those of a subject.
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

// Entry is a run as a store holds it.
type Entry struct {
	Run        run.Run // with what the gate said of it, where it has been judged
	Mark       Mark    // the one that counts; its State is Unmarked where there is none
	Digest     string  // SHA-256 in hexadecimal, see run.Run.Digest
	Iterations int     // how many the run has, also where List leaves them out
	AddedAt    time.Time
	// Retired is whether the run started before the level of its app and scenario
	// (see Rebaselined), so that it is no reference, however it is marked.
	Retired bool
}

// Filter chooses runs. Its zero value lets everything through; every field that
// is set must agree.
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
	Level    bool              // none that is retired
	Limit    int               // at most so many, 0: all
}

// Match reports whether the filter lets the entry through. Limit is the store's affair.
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

// Retention says what Prune keeps: of each app, scenario and context the newest
// Keep references and the newest Keep others. A rebaselined run always stays,
// since the level of its app hangs on it.
type Retention struct {
	Keep     int    // 1 or more
	Package  string // only this app's runs, "": every app's
	Scenario string // only this scenario's, "": every one's
	DryRun   bool   // tell, but remove nothing
}

// Check reports what makes the retention one that no store takes.
func (r Retention) Check() error {
	if r.Keep < 1 {
		return fmt.Errorf("keep %d runs of each context: want 1 or more", r.Keep)
	}
	return nil
}

// Damage is one thing that is wrong in a store. ID is "" where it can't be
// pinned on one run.
type Damage struct {
	ID      string
	Problem string
}

// String is the damage for people.
func (d Damage) String() string {
	if d.ID == "" {
		return d.Problem
	}
	return "run " + d.ID + ": " + d.Problem
}
