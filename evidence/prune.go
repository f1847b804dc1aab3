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

// unclaimedFor is how long a file stays that belongs to no run: whoever kept it may
// still be measuring.
const unclaimedFor = 48 * time.Hour

// Prune removes the files of the runs that keep does not want, but for those that
// another run has too, and what was never attached to any run.
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
		owners, err := ownersIn(root)
		if err != nil {
			return err
		}
		var stay, leave []owner
		for _, o := range owners {
			if keep(o.Run) {
				stay = append(stay, o)
			} else {
				leave = append(leave, o)
			}
		}
		if err := gone.remove(root, leave, stay); err != nil {
			return err
		}
		return gone.sweep(root, stay)
	})
	if err != nil {
		return gone, f.failed("remove kept files", err)
	}
	return gone, nil
}

// shrink removes the files of the oldest runs, but of the one that was just attached,
// until all files of runs together are within the limit, and what no run has.
func (f *Folder) shrink(root *os.Root, attached string) (Gone, error) {
	owners, err := ownersIn(root)
	if err != nil {
		return Gone{}, err
	}
	var gone Gone
	for i := 0; i < len(owners) && sizeOf(root, owners) > f.limits.Total; {
		if owners[i].Run == attached {
			i++
			continue
		}
		oldest := owners[i]
		owners = append(owners[:i:i], owners[i+1:]...)
		if err := gone.remove(root, []owner{oldest}, owners); err != nil {
			return gone, err
		}
	}
	return gone, gone.sweep(root, owners)
}

// sizeOf is the size of all files of runs, each once.
func sizeOf(root *os.Root, owners []owner) (total int64) {
	for digest := range digestsOf(owners) {
		if info, err := root.Lstat(placeOf(digest)); err == nil {
			total += info.Size()
		}
	}
	return total
}

func digestsOf(owners []owner) map[string]bool {
	out := map[string]bool{}
	for _, o := range owners {
		for _, digest := range o.Digests {
			out[digest] = true
		}
	}
	return out
}

// remove removes the runs that leave, with the files that none has that stays. A file
// that was kept again since belongs to somebody who has not said so yet.
func (g *Gone) remove(root *os.Root, leave, stay []owner) error {
	wanted := digestsOf(stay)
	for _, o := range leave {
		for _, digest := range o.Digests {
			info, err := root.Lstat(placeOf(digest))
			if errors.Is(err, fs.ErrNotExist) || wanted[digest] {
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
	}
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

// sweep removes what no run has and nobody can still be writing.
func (g *Gone) sweep(root *os.Root, stay []owner) error {
	wanted := digestsOf(stay)
	dirs, err := namesIn(root, filesDir)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		names, err := namesIn(root, path.Join(filesDir, dir))
		if err != nil {
			continue // no folder of ours
		}
		for _, name := range names {
			if digest := dir + name; validDigest(digest) && !wanted[digest] {
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

// namesIn are the names in a folder, as many as are looked at in one go.
func namesIn(root *os.Root, dir string) ([]string, error) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxOwners)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return names, nil
}
