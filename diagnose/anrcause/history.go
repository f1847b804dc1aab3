package anrcause

import (
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
)

// known is what a history has of a fault in a run.
type known struct {
	// others are the similar ANRs of other builds, newest run first: those of the base build, and
	// of runs that began earlier.
	others []occurrence
	// base counts those of the base build, same those of other runs of this build.
	base, same int
}

// occurrence is how often a fault occurred in a run.
type occurrence struct {
	Past
	times int
}

// times returns how often it occurred in all.
func (k known) times() (n int) {
	for _, o := range k.others {
		n += o.times
	}
	return n
}

// first returns the earliest run with it.
func (k known) first() occurrence { return k.others[len(k.others)-1] }

// accepted reports whether the run was accepted.
func (p Past) accepted() bool { return p.State == "accepted" || p.State == "rebaselined" }

// accepted reports whether any of the runs was accepted, so that the fault was in the reference.
func (k known) accepted() bool {
	for _, o := range k.others {
		if o.accepted() {
			return true
		}
	}
	return false
}

// fault are the ANRs of one run that are the same fault: indexes in run.Run.ANRs.
type fault struct {
	anrs  []int
	known known
}

// faults groups the ANRs of a run by clusters over the history: two are the same fault if they are
// connected with each other or with the same cluster. The ANR of a cycle may be of several
// clusters, which are then one fault.
func (h *History) faults(r run.Run) []fault {
	if len(r.ANRs) == 0 {
		return nil
	}
	h.settle()
	own := make([][]point, len(r.ANRs))
	touched := make([][]int, len(r.ANRs))
	for i, a := range r.ANRs {
		own[i] = h.vectors.points(a, 0, i)
		for _, p := range own[i] {
			touched[i] = append(touched[i], h.clusters.touched(p)...)
		}
	}
	part := connected(len(r.ANRs), func(a, b int) bool { return meet(touched[a], touched[b]) || anyAlike(own[a], own[b]) })
	out := make([]fault, slices.Max(part)+1)
	parts := make([]map[int]bool, len(out))
	for i, n := range part {
		out[n].anrs = append(out[n].anrs, i)
		if parts[n] == nil {
			parts[n] = map[int]bool{}
		}
		for _, c := range touched[i] {
			parts[n][c] = true
		}
	}
	for n := range out {
		out[n].known = h.knownOf(parts[n], r)
	}
	return out
}

// settle computes the history's clusters, once.
func (h *History) settle() {
	if !h.settled {
		h.clusters, h.settled = cluster(h.points, Threshold), true
		h.joint = joint(h.clusters.points)
	}
}

// meet reports whether two lists have an entry in common.
func meet(a, b []int) bool {
	return slices.ContainsFunc(a, func(x int) bool { return slices.Contains(b, x) })
}

// anyAlike reports whether any two of the points are.
func anyAlike(a, b []point) bool {
	return slices.ContainsFunc(a, func(x point) bool {
		return slices.ContainsFunc(b, func(y point) bool { return alike(&x, &y, Threshold) })
	})
}

// knownOf counts the history's ANRs in the clusters of a fault.
func (h *History) knownOf(parts map[int]bool, r run.Run) (k known) {
	times := make([]int, len(h.runs))
	counted := map[[2]int]bool{}
	for c := range parts {
		for _, p := range h.clusters.points[c] {
			if place := [2]int{p.run, p.anr}; !counted[place] {
				counted[place] = true
				times[p.run]++
			}
		}
	}
	for i, n := range times {
		p := h.runs[i]
		switch {
		case n == 0 || p.Run == r.ID:
		case p.Base:
			k.base += n
			k.others = append(k.others, occurrence{p, n})
		case sameBuild(p, r):
			k.same += n
		case !p.Started.After(r.Started):
			k.others = append(k.others, occurrence{p, n})
		}
	}
	return k
}

// sameBuild reports whether a run of the history is of the explained build.
func sameBuild(p Past, r run.Run) bool {
	return p.Session != "" && p.Session == r.Session || p.Commit != "" && p.Commit == r.Source.Commit
}

// day formats a time for a report.
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }
