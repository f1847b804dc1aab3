package runevidence

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Load are the runs with files that were copied from one history to another.
type Load struct{ runs []run.Run }

// Note adds a run that has files.
func (l *Load) Note(r run.Run) {
	if len(r.Evidence) > 0 {
		l.runs = append(l.runs, run.Run{ID: r.ID, Started: r.Started, Evidence: r.Evidence})
	}
}

// Passing adds the runs of a sequence as it is read, each with its id.
func (l *Load) Passing(runs iter.Seq2[run.Run, error]) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) {
		for r, err := range runs {
			if err == nil {
				if named, nameErr := r.Named(); nameErr == nil {
					l.Note(named)
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Entries adds the runs of a sequence of entries as it is read.
func (l *Load) Entries(entries iter.Seq2[runstore.Entry, error]) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		for e, err := range entries {
			if err == nil {
				l.Note(e.Run)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Files counts the files that the runs name.
func (l *Load) Files() (n int) {
	for _, r := range l.runs {
		n += len(r.Evidence)
	}
	return n
}

// Bring copies the files of the runs and returns a line on what was and was not copied; "" if the
// runs have none.
func (l *Load) Bring(ctx context.Context, to, from *evidence.Folder) (string, error) {
	var done evidence.Copied
	for _, r := range l.runs {
		one, err := evidence.Copy(ctx, to, from, r)
		done.Add(one)
		if err != nil {
			return "", err
		}
	}
	if l.Files() == 0 {
		return "", nil
	}
	var said []string
	if done.Files > 0 {
		said = append(said, fmt.Sprintf("%s kept with runs copied to %s", prose.Count(done.Files, "file", "files"), to.Path()))
	}
	if done.Missing > 0 {
		said = append(said, fmt.Sprintf("%s kept with runs not in %s, so that the runs only name them", prose.Count(done.Missing, "file", "files"), from.Path()))
	}
	if done.Refused > 0 {
		said = append(said, fmt.Sprintf("%s kept with runs not copied, as they are too large or more than is kept of one run", prose.Count(done.Refused, "file", "files")))
	}
	if lost := GoneLine(done.Gone); lost != "" {
		said = append(said, lost)
	}
	return strings.Join(said, "; "), nil
}

// Staying returns a line that the files of the runs are not copied; "" if the runs have none.
func (l *Load) Staying(from *evidence.Folder) string {
	if l.Files() == 0 {
		return ""
	}
	return fmt.Sprintf("%s kept with %s: they stay in %s, the runs only name them",
		prose.Count(l.Files(), "file was", "files were"), prose.Count(len(l.runs), "run", "runs"), from.Path())
}

// GoneLine returns which files were removed to keep within the limits; "" for none.
func GoneLine(gone evidence.Gone) string {
	if gone.Files == 0 {
		return ""
	}
	return fmt.Sprintf("%s of older runs removed, %s, as all of them together were too large",
		prose.Count(gone.Files, "kept file", "kept files"), plainSpaces(wording.FileSize(gone.Bytes)))
}

// listed is how many runs a history is queried for at once.
const listed = 1_000

// Prune removes the files of runs that the history does not have any more. A damaged history can't
// tell which those are: then it returns runstore.ErrDamaged, and removes nothing.
func Prune(ctx context.Context, folder *evidence.Folder, s runstore.Store) (evidence.Gone, error) {
	ids, err := folder.Runs()
	if err != nil {
		return evidence.Gone{}, err
	}
	without := map[string]bool{} // runs that are to be removed
	for len(ids) > 0 {
		n := min(listed, len(ids))
		for _, id := range ids[:n] {
			without[id] = true
		}
		for e, err := range s.List(ctx, runstore.Filter{IDs: ids[:n]}) {
			if err != nil {
				return evidence.Gone{}, err
			}
			delete(without, e.Run.ID)
		}
		ids = ids[n:]
	}
	if sound, ok := s.(*runstore.Sound); ok { // which skips damaged runs
		if _, damaged := sound.Damage(); damaged > 0 {
			return evidence.Gone{}, fmt.Errorf("remove the files of runs that are gone: %w", runstore.ErrDamaged)
		}
	}
	return folder.Prune(ctx, func(id string) bool { return !without[id] }) // nor those that came meanwhile
}
