package anr

import (
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr/signature"
)

// Threshold is how alike two ANRs of one cluster are at least: above it (paper,
// section 2.3). docs/evaluation.md has what others would do.
const Threshold = 0.95

// point is one critical thread of an ANR, as numbers that stand for its features.
type point struct {
	run, anr int    // its places in a history
	key      string // equal where nothing differs
	generic  []feature
	specific []int32 // sorted
	// of says how many of specific are of each kind that a dump may not show at all, and
	// elsewhere how many are of others.
	of        [3]int
	elsewhere int
	read      bool
}

// feature is a generic one: its name, and with its step.
type feature struct{ name, step int32 }

// vectors makes points, with a number for each feature that it has seen.
type vectors struct {
	signature.Vectors
	ids map[string]int32
}

func (v *vectors) id(text string) int32 {
	id, ok := v.ids[text]
	if !ok {
		if v.ids == nil {
			v.ids = map[string]int32{}
		}
		id = int32(len(v.ids))
		v.ids[text] = id
	}
	return id
}

// points are those of an ANR; of one of which no thread is known, one that says so.
func (v *vectors) points(a run.ANR, inRun, place int) []point {
	all := v.Of(a)
	if len(all) == 0 {
		all = []signature.Vector{{}}
	}
	var out []point
	for _, vector := range all {
		p := point{run: inRun, anr: place, read: vector.Read}
		if !p.read { // of what is left, only what was waited for tells one from the other
			vector = signature.Vector{Specific: []string{"anr " + a.Kind}}
		}
		p.key = strings.Join(vector.Generic, "\x00") + "\x01" + strings.Join(vector.Specific, "\x00")
		for _, text := range vector.Generic {
			name, _, _ := strings.Cut(text, ":")
			p.generic = append(p.generic, feature{v.id("name " + name), v.id("step " + text)})
		}
		for _, text := range vector.Specific {
			p.specific = append(p.specific, v.id(text))
			if k := slices.IndexFunc(signature.Kinds(), func(kind string) bool { return strings.HasPrefix(text, kind) }); k >= 0 {
				p.of[k]++
			} else {
				p.elsewhere++
			}
		}
		slices.Sort(p.specific)
		out = append(out, p)
	}
	return out
}

// similarity is S of the paper: the mean of S_p (equation 1, the Jaccard index of the
// generic features) and S_c (equation 2, the cosine of the vectors of specific ones),
// weighted by the cardinalities of both sets, those of their unions here. Two vectors
// are compared in what both dumps show: many phones show no kernel's frames, some
// no native ones, and a log without a line of CPU use does not say that the CPU was
// idle.
func similarity(a, b point) float64 {
	if !a.read || !b.read { // of nothing, nothing is alike: the kind must do
		if a.read == b.read && slices.Equal(a.specific, b.specific) {
			return 1
		}
		return 0
	}
	common, either := jaccard(a.generic, b.generic)
	m, n := a.shownIn(b), b.shownIn(a)
	total := float64(either + max(m, n))
	if total <= 0 || best(float64(either), m, n) <= Threshold {
		return 0 // whatever they have in common
	}
	both := shared(a.specific, b.specific)
	sc := float64(both) / math.Sqrt(float64(m)*float64(n))
	union := float64(m + n - both)
	return (float64(common) + union*sc) / (float64(either) + union)
}

// best is the greatest similarity that vectors of these sizes can have.
func best(generic float64, m, n int) float64 {
	small, large := float64(min(m, n)), float64(max(m, n))
	return (generic + large*math.Sqrt(small/large)) / (generic + large)
}

// shownIn is how many specific features a point has, of the kinds that the other one's
// dump shows too.
func (p point) shownIn(o point) int {
	n := p.elsewhere
	for k := range p.of {
		if o.of[k] > 0 {
			n += p.of[k]
		}
	}
	return n
}

// jaccard counts the features that both have, and those that either has, of the names
// that both tell. The weight of equation 1 is the latter, so that S_p times it is the
// former.
func jaccard(a, b []feature) (common, either int) {
	for _, x := range a {
		for _, y := range b {
			switch {
			case x == y:
				common, either = common+1, either+1
			case x.name == y.name:
				either += 2
			}
		}
	}
	return common, either
}

// shared counts what two sorted lists have in common.
func shared(a, b []int32) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			n, i, j = n+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return n
}
