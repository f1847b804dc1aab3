package judging

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Lineage are the ancestors of a build's commit, as far as they are known: for a pull request, the
// commit that it branched from and those before it. Runs of other commits don't judge the build,
// since later changes of the main branch are not in it. The zero value is unknown, and excludes
// nothing.
type Lineage struct {
	Commits []string // the newest first, at most runstore.MaxCommits
	// Since is when the oldest of them was made. Runs from before then may be of earlier commits,
	// and are kept. Whole reports that there are no earlier ones.
	Since time.Time
	Whole bool
	// Shallow reports that the clone ends there, so that earlier commits are unknown.
	Shallow bool
}

// descent decides which runs are of a lineage's commits, and counts the excluded ones.
type descent struct {
	Lineage
	known map[string][]string // commits by prefix

	mu     sync.Mutex
	out    map[string]bool // ids
	newest run.Summary     // of these
}

func newDescent(l Lineage) *descent {
	d := &descent{Lineage: l, known: map[string][]string{}, out: map[string]bool{}}
	d.Commits = d.Commits[:min(len(d.Commits), runstore.MaxCommits)]
	for _, c := range d.Commits {
		if len(c) >= run.LeastOfCommit {
			d.known[c[:run.LeastOfCommit]] = append(d.known[c[:run.LeastOfCommit]], c)
		}
	}
	return d
}

// has reports whether a commit, possibly abbreviated, is one of them.
func (d *descent) has(commit string) bool {
	if len(commit) < run.LeastOfCommit {
		return slices.Contains(d.Commits, commit)
	}
	return slices.ContainsFunc(d.known[commit[:run.LeastOfCommit]], func(c string) bool { return run.SameCommit(c, commit) })
}

// foreign reports whether a run is of another commit, and not from before the oldest.
func (d *descent) foreign(r run.Summary) bool {
	if r.Commit == "" || len(d.Commits) == 0 || d.has(r.Commit) {
		return false
	}
	return d.Whole || d.Shallow || (!d.Since.IsZero() && r.Started.After(d.Since))
}

// judging returns the runs that may judge the build.
func (d *descent) judging(refs []run.Summary) []run.Summary {
	if !slices.ContainsFunc(refs, d.foreign) {
		return refs
	}
	d.mu.Lock()
	for _, r := range refs {
		if d.foreign(r) {
			d.out[r.ID] = true
			if !r.Started.Before(d.newest.Started) {
				d.newest = r
			}
		}
	}
	d.mu.Unlock()
	if d.Shallow {
		return refs
	}
	return slices.DeleteFunc(slices.Clone(refs), d.foreign)
}

// warnings report what was excluded, or could not be.
func (d *descent) warnings() []run.Warning {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.out)
	if n == 0 {
		return nil
	}
	of := fmt.Sprintf("%d accepted %s", n, prose.Plural(n, "run is of a commit", "runs are of commits"))
	if d.Shallow {
		return []run.Warning{{Text: of + " that this shallow clone does not have, and may judge a build that does not contain it (git fetch --unshallow)"}}
	}
	return []run.Warning{{Text: fmt.Sprintf("%s outside this build's history (the newest: %s) and %s left out",
		of, wording.Commit(wording.Name(d.newest.Commit)), prose.Plural(n, "is", "are"))}}
}
