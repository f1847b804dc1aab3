package evidence

import (
	"encoding/json"
	"os"
	"time"
)

// account is what the files of all runs come to.
type account struct {
	owners []owner // the oldest first
	runs   int     // of them that have not left
	files  map[string]kept
	bytes  int64 // of all files, each once
}

// kept is a file: how many runs have it, and its size.
type kept struct {
	uses  int
	bytes int64
}

// accountOf looks at the files of all runs.
func accountOf(root *os.Root) (*account, error) {
	owners, err := ownersIn(root)
	if err != nil {
		return nil, err
	}
	a := &account{owners: owners, runs: len(owners), files: map[string]kept{}}
	for _, o := range owners {
		for _, digest := range o.Digests {
			k, known := a.files[digest]
			if !known {
				if info, err := root.Lstat(placeOf(digest)); err == nil {
					k.bytes = info.Size()
				}
				a.bytes += k.bytes
			}
			k.uses++
			a.files[digest] = k
		}
	}
	return a, nil
}

// leave takes a run out, and returns the files that no other has.
func (a *account) leave(o owner) (unused []string) {
	a.runs--
	for _, digest := range o.Digests {
		k := a.files[digest]
		k.uses--
		a.files[digest] = k
		if k.uses == 0 {
			a.bytes -= k.bytes
			unused = append(unused, digest)
		}
	}
	return unused
}

// total is what a folder was found to hold, with all that it got since: at least as much as
// is there, so that what is within the limits need not be looked at.
type total struct {
	Bytes int64     `json:"bytes"`
	Runs  int       `json:"runs"`
	At    time.Time `json:"at"` // when it was looked at
}

// countedFor is how long a total stands: another apkgate may not write it.
const countedFor = 24 * time.Hour

// readTotal reads the folder's total; false where there is none that still stands.
func readTotal(root *os.Root) (total, bool) {
	info, err := root.Lstat(totalFile)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<10 {
		return total{}, false
	}
	data, err := root.ReadFile(totalFile)
	if err != nil {
		return total{}, false
	}
	return totalOf(data, time.Now())
}

// totalOf reads its text.
func totalOf(data []byte, now time.Time) (t total, stands bool) {
	if json.Unmarshal(data, &t) != nil || t.Bytes < 0 || t.Runs < 0 {
		return total{}, false
	}
	age := now.Sub(t.At)
	return t, age >= 0 && age < countedFor
}

// write writes the total whole or not at all.
func (t total) write(root *os.Root) error { return writeJSON(root, totalFile, t) }
