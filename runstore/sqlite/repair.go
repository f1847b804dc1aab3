package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/sqlite/pages"
	"github.com/apkgate/apkgate/runstore/sqlite/salvage"
)

// Repaired is the result of Repair.
type Repaired struct {
	Kept     int               // runs of the new file, each with the mark that counts
	Lost     int               // runs whose records can't be read
	Found    []runstore.Damage // the damage; nil: none, and the file is unchanged
	Original string            // where the damaged file is now
}

// Repair creates a history from what is sound in the file at path, and replaces the file once the
// new one is complete and verified. The damaged file is kept next to it. No other process may have
// it open. A file that SQLite can't open is read page by page.
func Repair(ctx context.Context, path string, o Options) (Repaired, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s, err := Open(ctx, path, o)
	if err != nil && ofContent(err) {
		return repairUnopened(ctx, path, o, err)
	}
	if err != nil {
		return Repaired{}, err
	}
	var out Repaired
	out.Found, err = s.Verify(ctx)
	if err != nil || len(out.Found) == 0 {
		return out, errors.Join(err, s.Close())
	}
	err = out.rescue(ctx, path, s.Export(ctx, runstore.Filter{}), o)
	if err = errors.Join(err, s.Close()); err == nil {
		out.Original, err = replace(path, o.Now())
	}
	return out, err
}

// ofContent reports whether a file could not be opened because of its content.
func ofContent(err error) bool {
	for _, other := range []error{
		runstore.ErrBusy, runstore.ErrReadOnly, runstore.ErrFull, fs.ErrNotExist, fs.ErrPermission, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

// likelyVersion is above every schema version to be expected: a higher one is no newer history but
// a damaged one.
const likelyVersion = 1000

// repairUnopened repairs a file that can't be opened for the reason why. It must contain runs of
// ours.
func repairUnopened(ctx context.Context, path string, o Options, why error) (Repaired, error) {
	f, err := os.Open(path)
	if err != nil {
		return Repaired{}, err
	}
	defer f.Close()
	src, err := pages.In(f)
	if err != nil {
		return Repaired{}, why
	}
	head := src.Page(1)
	if len(head) == 0 {
		return Repaired{}, why
	}
	if errors.Is(why, runstore.ErrNewer) && binary.BigEndian.Uint32(head[60:]) <= likelyVersion {
		return Repaired{}, why // its content is not completely known
	}
	found := salvage.Of(src, int(src.Bytes))
	if len(found.ByNumber) == 0 {
		return Repaired{}, why
	}
	out := Repaired{Found: []runstore.Damage{{Problem: why.Error()}}}
	if hasLog(path) {
		out.Found = append(out.Found, runstore.Damage{Problem: "what was written last lies in " + path + "-wal and can't be read without the file: it is kept next to it"})
	}
	if err = out.rescue(ctx, path, found.Entries(runstore.Filter{}, false), o); err == nil {
		out.Original, err = replace(path, o.Now())
	}
	return out, err
}

// rescueName returns the path of the new file until it is complete.
func rescueName(path string) string { return path + ".repairing" }

// rescue copies sound runs into a new file and verifies it.
func (out *Repaired) rescue(ctx context.Context, path string, entries iter.Seq2[runstore.Entry, error], o Options) error {
	if err := removeHistory(rescueName(path)); err != nil {
		return err
	}
	to, err := Open(ctx, rescueName(path), o)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, d := range out.Found {
		known[keyOf(d)] = true
	}
	done, err := runstore.Take(ctx, to, func(yield func(runstore.Entry, error) bool) {
		for e, err := range entries {
			var damaged *runstore.DamagedRun
			if errors.As(err, &damaged) {
				if damaged.ID != "" {
					out.Lost++
				}
				if d := (runstore.Damage{ID: damaged.ID, Problem: damaged.Err.Error()}); !known[keyOf(d)] {
					known[keyOf(d)] = true
					out.Found = append(out.Found, d)
				}
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	})
	if err == nil {
		var damage []runstore.Damage
		if damage, err = to.Verify(ctx); err == nil && len(damage) > 0 {
			err = fmt.Errorf("the new history is not whole either: %s", damage[0])
		}
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(fmt.Errorf("repair history %s: %w", path, err), removeHistory(rescueName(path)))
	}
	out.Kept = done.Added
	return nil
}

// keyOf identifies damage. A damaged run is reported once, in whatever words.
func keyOf(d runstore.Damage) string { return cmp.Or(d.ID, d.Problem) }

// replace replaces the old file, which it renames, by the new one. Its log is renamed with it: it
// would otherwise be used for the new file.
func replace(path string, now time.Time) (original string, err error) {
	original = path + ".damaged-" + now.UTC().Format("20060102T150405Z")
	if _, err := os.Lstat(original); err == nil {
		return "", fmt.Errorf("keep the damaged history as %s: %w", original, fs.ErrExist)
	}
	if err := os.Link(path, original); err != nil { // a link, so that path always exists
		return "", fmt.Errorf("keep the damaged history as %s: %w", original, err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, original+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("keep the damaged history's log: %w", err)
		}
	}
	if err := os.Rename(rescueName(path), path); err != nil {
		return "", fmt.Errorf("put the repaired history in place: %w", err)
	}
	return original, syncFolder(filepath.Dir(path))
}

// syncFolder syncs the names in a folder to disk. Not every system can.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

// removeHistory removes an incomplete file of ours, with its side files.
func removeHistory(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
