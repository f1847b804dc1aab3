package evidence

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Limits on reading the folder.
const (
	maxOwner = 64 << 10 // bytes of one file in runs
	// maxRuns is how many runs may have files; beyond it, the oldest lose theirs.
	maxRuns = 100_000
	// maxOwners is how many of their files are read, ten times what apkgate writes.
	maxOwners = 10 * maxRuns
	// portion is how many names of a folder are read at a time.
	portion = 4096
)

// owner is a file in runs: which files a run has.
type owner struct {
	Format  string    `json:"format"`
	Run     string    `json:"run"`
	Started time.Time `json:"started"`
	Digests []string  `json:"digests"`

	name    string    // of the file
	written time.Time // by the file system
}

// Gone is what was removed, because of the limits or with its runs.
type Gone struct {
	Runs  []string // their ids, oldest first
	Files int
	Bytes int64
}

// Attach attaches the files in the run's record to the run, as far as they are here, and enforces
// the folder's limits: where all files together are too large, those of the oldest other runs are
// removed. The run must have an id.
func (f *Folder) Attach(ctx context.Context, r run.Run) (Gone, error) {
	if len(r.Evidence) == 0 {
		return Gone{}, nil
	}
	if r.ID == "" {
		return Gone{}, f.failed("attach files to a run", errors.New("the run has no id"))
	}
	root, err := f.open(false)
	if errors.Is(err, ErrAbsent) {
		return Gone{}, nil // none of them is here
	}
	if err != nil {
		return Gone{}, f.failed("attach files to run "+r.ID, err)
	}
	defer root.Close()
	var gone Gone
	err = f.locked(ctx, root, func() error {
		own := owner{Format: Format, Run: r.ID, Started: r.Started.UTC()}
		for _, e := range r.Evidence {
			if validDigest(e.Digest) && isHere(root, e.Digest) && !slices.Contains(own.Digests, e.Digest) {
				own.Digests = append(own.Digests, e.Digest)
			}
		}
		if len(own.Digests) == 0 {
			return nil
		}
		if err := own.write(root); err != nil {
			return err
		}
		gone, err = f.attached(root, own)
		return err
	})
	if err != nil {
		return gone, f.failed("attach files to run "+r.ID, err)
	}
	return gone, nil
}

// Runs returns the ids of the runs that have files here, oldest first.
func (f *Folder) Runs() ([]string, error) {
	root, err := f.open(false)
	if errors.Is(err, ErrAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, f.failed("list the runs with kept files", err)
	}
	defer root.Close()
	owners, err := ownersIn(root)
	if err != nil {
		return nil, f.failed("list the runs with kept files", err)
	}
	var ids []string
	for _, o := range owners {
		ids = append(ids, o.Run)
	}
	return ids, nil
}

func isHere(root *os.Root, digest string) bool {
	info, err := root.Lstat(placeOf(digest))
	return err == nil && info.Mode().IsRegular()
}

// ownerName returns the name of a run's file in runs. Ids may be any text.
func ownerName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return path.Join(runsDir, hex.EncodeToString(sum[:])+".json")
}

// write writes the file atomically.
func (o owner) write(root *os.Root) error { return writeJSON(root, ownerName(o.Run), o) }

func writeJSON(root *os.Root, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	tmp := path.Join(inDir, rand.Text())
	if _, _, err := writeNew(context.Background(), root, tmp, bytes.NewReader(data), maxOwner); err != nil {
		return err
	}
	return root.Rename(tmp, name)
}

// ownersIn reads which run has which files, oldest run first. A foreign or damaged file owns
// nothing.
func ownersIn(root *os.Root) ([]owner, error) {
	dir, err := root.Open(runsDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var out []owner
	for {
		names, err := dir.Readdirnames(portion)
		for _, name := range names {
			if digest, isJSON := strings.CutSuffix(name, ".json"); !isJSON || !validDigest(digest) {
				continue
			}
			if o, ok := readOwner(root, path.Join(runsDir, name)); ok {
				out = append(out, o)
			}
		}
		switch {
		case len(out) > maxOwners:
			return nil, fmt.Errorf("it has files of more than %d runs", maxOwners)
		case errors.Is(err, io.EOF):
			slices.SortFunc(out, func(a, b owner) int {
				return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.Run, b.Run))
			})
			return out, nil
		case err != nil:
			return nil, err
		}
	}
}

func readOwner(root *os.Root, name string) (owner, bool) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxOwner {
		return owner{}, false
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return owner{}, false
	}
	o, ok := ownerOf(data, name)
	o.written = info.ModTime()
	return o, ok
}

// ownerOf decodes such a file.
func ownerOf(data []byte, name string) (owner, bool) {
	o := owner{name: name}
	if json.Unmarshal(data, &o) != nil || o.Format != Format || ownerName(o.Run) != name {
		return owner{}, false
	}
	for _, digest := range o.Digests {
		if !validDigest(digest) {
			return owner{}, false
		}
	}
	return o, true
}
