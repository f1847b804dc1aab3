package anrcause

import (
	"cmp"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// Cluster are the ANRs of a history that are the same fault.
type Cluster struct {
	// Kind, Subject and Sure are those of the cause of the newest ANR with threads; Title names it,
	// Sentence describes it in one without a full stop.
	Kind, Subject   string
	Sure            diagnose.Sure
	Title, Sentence diagnose.Phrase
	Signatures      []string // different ones, sorted
	Times, Runs     int
	First, Last     Past // the earliest and the latest of the runs, with all their ANRs
	Accepted        bool // any of the runs was accepted
}

// Clusters returns those of the history, most frequent first, and how many ANRs are older than the
// compared ones. A cycle, whose threads may be of different clusters, is one fault.
func (h *History) Clusters() (list []Cluster, leftOut int) {
	h.settle()
	groups := map[int][]point{}
	for part, points := range h.clusters.points {
		one := root(h.joint, part)
		groups[one] = append(groups[one], points...)
	}
	for _, points := range groups {
		list = append(list, h.clusterOf(points))
	}
	slices.SortFunc(list, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), b.Last.Started.Compare(a.Last.Started), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subject, b.Subject),
			slices.Compare(a.Signatures, b.Signatures))
	})
	return list, h.leftOut
}

// joint returns for components that share an ANR which lower one each is merged with.
func joint(parts map[int][]point) map[int]int {
	out, of := map[int]int{}, map[[2]int]int{}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		for _, p := range parts[part] {
			place := [2]int{p.run, p.anr}
			if other, ok := of[place]; ok {
				a, b := root(out, part), root(out, other)
				if a != b {
					out[max(a, b)] = min(a, b)
				}
			}
			of[place] = part
		}
	}
	return out
}

// root returns the lowest component that a component was merged with.
func root(joint map[int]int, part int) int {
	for {
		next, ok := joint[part]
		if !ok {
			return part
		}
		part = next
	}
}

func (h *History) clusterOf(points []point) (c Cluster) {
	counted := map[[2]int]bool{}
	runs := map[int]bool{}
	newest, shown := -1, run.ANR{}
	slices.SortFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.anr, b.anr)) })
	for _, p := range points {
		place := [2]int{p.run, p.anr}
		if counted[place] {
			continue
		}
		counted[place], runs[p.run] = true, true
		a, of := h.runs[p.run].ANRs[p.anr], h.runs[p.run]
		if newest < 0 || len(shown.Threads) == 0 && len(a.Threads) > 0 {
			shown = a
		}
		if newest < 0 {
			newest, c.Last = p.run, of
		}
		c.First = of
		c.Accepted = c.Accepted || of.accepted()
		if a.Signature != "" && !slices.Contains(c.Signatures, a.Signature) {
			c.Signatures = append(c.Signatures, a.Signature)
		}
	}
	slices.Sort(c.Signatures)
	why := reasonOf(shown)
	c.Kind, c.Subject, c.Sure, c.Title, c.Sentence = why.kind, why.subject, why.sure, title(why), sentence(look(shown), why)
	c.Times, c.Runs = len(counted), len(runs)
	return c
}
