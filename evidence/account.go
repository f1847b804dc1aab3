package evidence

import (
	"encoding/json"
	"os"
	"time"
)

// account is the files of all runs and their total size.
type account struct {
	owners []owner // oldest first
	runs   int     // that have not been removed
	files  map[string]kept
	bytes  int64 // of all files, each once
}

// kept is a file: how many runs have it, and its size.
type kept struct {
	uses  int
	bytes int64
}

// accountOf reads the files of all runs.
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

// leave removes a run, and returns the files that no other run has.
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

// total is an upper bound of a folder's size: its last count, plus everything added since. A folder
// within the limits need not be counted again.
type total struct {
	Bytes int64     `json:"bytes"`
	Runs  int       `json:"runs"`
	At    time.Time `json:"at"` // time of the count
}

// countedFor is how long a total is valid: another apkgate may not update it.
const countedFor = 24 * time.Hour

// readTotal reads the folder's total; false where there is no valid one.
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

// totalOf decodes it.
func totalOf(data []byte, now time.Time) (t total, stands bool) {
	if json.Unmarshal(data, &t) != nil || t.Bytes < 0 || t.Runs < 0 {
		return total{}, false
	}
	age := now.Sub(t.At)
	return t, age >= 0 && age < countedFor
}

// write writes the total atomically.
func (t total) write(root *os.Root) error { return writeJSON(root, totalFile, t) }
