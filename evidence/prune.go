package evidence

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// unclaimedFor is how long a file without a run stays: its run may still be measured.
const unclaimedFor = 48 * time.Hour

// Prune removes the files of the runs for which keep returns false, except those that another run
// has too, and files that were never attached to a run.
func (f *Folder) Prune(ctx context.Context, keep func(run string) bool) (Gone, error) {
	root, err := f.open(false)
	if errors.Is(err, ErrAbsent) {
		return Gone{}, nil
	}
	if err != nil {
		return Gone{}, f.failed("remove kept files", err)
	}
	defer root.Close()
	var gone Gone
	err = f.locked(ctx, root, func() error {
		a, err := accountOf(root)
		if err != nil {
			return err
		}
		for _, o := range a.owners {
			if !keep(o.Run) {
				if err := gone.remove(root, a, o); err != nil {
					return err
				}
			}
		}
		return gone.settle(root, a)
	})
	if err != nil {
		return gone, f.failed("remove kept files", err)
	}
	return gone, nil
}

// attached enforces the folder's limits after files were attached to a run. The whole folder is
// read only where it may be too large, and once a day.
func (f *Folder) attached(root *os.Root, o owner) (Gone, error) {
	t, known := readTotal(root)
	t.Runs++
	for _, digest := range o.Digests {
		if info, err := root.Lstat(placeOf(digest)); err == nil {
			t.Bytes += info.Size()
		}
	}
	if known && t.Bytes <= f.limits.Total && t.Runs <= maxRuns {
		return Gone{}, t.write(root)
	}
	return f.shrink(root, o.Run)
}

// shrink removes the files of the oldest runs, except the one that was just attached, until the
// runs and all their files are within the limits, and files without a run.
func (f *Folder) shrink(root *os.Root, attached string) (Gone, error) {
	a, err := accountOf(root)
	if err != nil {
		return Gone{}, err
	}
	var gone Gone
	for _, o := range a.owners {
		if a.bytes <= f.limits.Total && a.runs <= maxRuns {
			break
		}
		if o.Run == attached {
			continue
		}
		if err := gone.remove(root, a, o); err != nil {
			return gone, err
		}
	}
	return gone, gone.settle(root, a)
}

// settle removes files without a run, and writes the new total.
func (g *Gone) settle(root *os.Root, a *account) error {
	if err := g.sweep(root, a); err != nil {
		return err
	}
	return total{Bytes: a.bytes, Runs: a.runs, At: time.Now()}.write(root)
}

// remove removes a run, with the files that no other run has. A file that was kept again since then
// belongs to a run that is not attached yet.
func (g *Gone) remove(root *os.Root, a *account, o owner) error {
	for _, digest := range a.leave(o) {
		info, err := root.Lstat(placeOf(digest))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.ModTime().After(o.written) {
			continue
		}
		if err := g.removeFile(root, placeOf(digest), info); err != nil {
			return err
		}
	}
	if err := root.Remove(o.name); err != nil {
		return err
	}
	g.Runs = append(g.Runs, o.Run)
	return nil
}

func (g *Gone) removeFile(root *os.Root, name string, info fs.FileInfo) error {
	if err := root.Remove(name); err != nil {
		return err
	}
	g.Files++
	g.Bytes += info.Size()
	return nil
}

// sweep removes files without a run that nobody can still be writing.
func (g *Gone) sweep(root *os.Root, a *account) error {
	dirs, err := namesIn(root, filesDir)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		names, err := namesIn(root, path.Join(filesDir, dir))
		if err != nil {
			continue // not a folder of ours
		}
		for _, name := range names {
			if digest := dir + name; validDigest(digest) && a.files[digest].uses == 0 {
				if err := g.removeOld(root, placeOf(digest)); err != nil {
					return err
				}
			}
		}
	}
	unfinished, err := namesIn(root, inDir)
	if err != nil {
		return err
	}
	for _, name := range unfinished {
		if err := g.removeOld(root, path.Join(inDir, name)); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gone) removeOld(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < unclaimedFor {
		return nil
	}
	return g.removeFile(root, name, info)
}

// namesIn returns the names in a folder, up to the number read at once.
func namesIn(root *os.Root, dir string) ([]string, error) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxRuns)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return names, nil
}
