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

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/sqlite/pages"
	"github.com/apkgate/apkgate/baseline/sqlite/salvage"
)

// Repaired is what Repair has done.
type Repaired struct {
	Kept     int               // runs of the new file, each with the mark that counts
	Lost     int               // runs whose records can't be read
	Found    []baseline.Damage // what was wrong; nil: the file is whole, and as it was
	Original string            // where the damaged file is now
}

// Repair makes a whole history of what is sound in the file at path, and puts it in
// the file's place when it is complete and checked. The damaged file stays beside
// it. Nobody else may have it open. A file that SQLite can't open any more is read
// page by page.
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
	err = out.rescue(ctx, path, s.Export(ctx, baseline.Filter{}), o)
	if err = errors.Join(err, s.Close()); err == nil {
		out.Original, err = replace(path, o.Now())
	}
	return out, err
}

// ofContent reports whether a file could not be opened for what is in it.
func ofContent(err error) bool {
	for _, other := range []error{
		baseline.ErrBusy, baseline.ErrReadOnly, baseline.ErrFull, fs.ErrNotExist, fs.ErrPermission, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

// likelyVersion is more than the versions of the schema that there may ever be: what
// is beyond is no newer history but a damaged one.
const likelyVersion = 1000

// repairUnopened repairs a file that can't be opened for the reason why. It has to
// have runs of ours.
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
	if errors.Is(why, baseline.ErrNewer) && binary.BigEndian.Uint32(head[60:]) <= likelyVersion {
		return Repaired{}, why // we don't know all that it holds
	}
	found := salvage.Of(src, int(src.Bytes))
	if len(found.ByNumber) == 0 {
		return Repaired{}, why
	}
	out := Repaired{Found: []baseline.Damage{{Problem: why.Error()}}}
	if hasLog(path) {
		out.Found = append(out.Found, baseline.Damage{Problem: "what was written last lies in " + path + "-wal and can't be read without the file: it is kept beside it"})
	}
	if err = out.rescue(ctx, path, found.Entries(baseline.Filter{}, false), o); err == nil {
		out.Original, err = replace(path, o.Now())
	}
	return out, err
}

// rescueName is where the new file grows.
func rescueName(path string) string { return path + ".repairing" }

// rescue copies sound runs into a new file and checks that.
func (out *Repaired) rescue(ctx context.Context, path string, entries iter.Seq2[baseline.Entry, error], o Options) error {
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
	done, err := baseline.Take(ctx, to, func(yield func(baseline.Entry, error) bool) {
		for e, err := range entries {
			var damaged *baseline.DamagedRun
			if errors.As(err, &damaged) {
				if damaged.ID != "" {
					out.Lost++
				}
				if d := (baseline.Damage{ID: damaged.ID, Problem: damaged.Err.Error()}); !known[keyOf(d)] {
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
		var damage []baseline.Damage
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

// keyOf tells damages apart. A run that is damaged is told of once, in whatever words.
func keyOf(d baseline.Damage) string { return cmp.Or(d.ID, d.Problem) }

// replace puts the new file in the place of the old one, which it names anew. Its
// log goes with it: it would else be taken for the new file's.
func replace(path string, now time.Time) (original string, err error) {
	original = path + ".damaged-" + now.UTC().Format("20060102T150405Z")
	if _, err := os.Lstat(original); err == nil {
		return "", fmt.Errorf("keep the damaged history as %s: %w", original, fs.ErrExist)
	}
	if err := os.Link(path, original); err != nil { // a link, so that path is never without a file
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

// syncFolder makes the names in a folder last. Not every system can.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

// removeHistory removes a file of ours that was left half done, with what lies
// beside it.
func removeHistory(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
