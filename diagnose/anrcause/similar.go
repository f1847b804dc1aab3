package anrcause

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr/signature"
)

// Threshold is the similarity above which two ANRs are in one cluster (paper, section 2.3).
// docs/evaluation/anrs.md has the results of others.
const Threshold = 0.95

// point is one critical thread of an ANR, as numbers of its features.
type point struct {
	run, anr int    // its indexes in a history
	key      string // equal where nothing differs
	generic  []feature
	specific []int32   // sorted
	own      []int32   // those of specific that have a higher weight, sorted
	bits     [4]uint64 // one is set for each of specific, the same in each point that has it
	// of counts how many of specific are of each kind that a dump may lack completely, and
	// elsewhere how many are of others.
	of        [3]int
	elsewhere int
	// shape are the two dimensions that are numbers, and their sum of squares.
	locks, length, shape float64
	read                 bool
}

// feature is a generic one: its name, and with its step.
type feature struct{ name, step int32 }

// vectors makes points, with a number for each known feature.
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

// points returns those of an ANR; for one without known threads, a single marked one.
func (v *vectors) points(a run.ANR, inRun, place int) []point {
	all := v.Of(a)
	if len(all) == 0 {
		all = []signature.Vector{{}}
	}
	var out []point
	for _, vector := range all {
		p := point{run: inRun, anr: place, read: vector.Read}
		if !p.read { // of the rest, only what was waited for differs
			vector = signature.Vector{Specific: []string{"anr " + a.Kind}}
		}
		p.key = fmt.Sprintf("%q %q %d %d", vector.Generic, vector.Specific, vector.Locks, vector.Length)
		p.locks, p.length = saturated(vector.Locks), saturated(vector.Length)
		p.shape = p.locks*p.locks + p.length*p.length
		for _, text := range vector.Generic {
			name, _, _ := strings.Cut(text, ":")
			p.generic = append(p.generic, feature{v.id("name " + name), v.id("step " + text)})
		}
		for _, text := range vector.Specific {
			id := v.id(text)
			p.specific = append(p.specific, id)
			p.bits[id%256/64] |= 1 << (id % 64)
			if k := slices.IndexFunc(signature.Kinds(), func(kind string) bool { return strings.HasPrefix(text, kind) }); k >= 0 {
				p.of[k]++
			} else {
				p.elsewhere++
			}
		}
		for _, text := range vector.Own {
			p.own = append(p.own, v.id(text))
		}
		slices.Sort(p.specific)
		slices.Sort(p.own)
		out = append(out, p)
	}
	return out
}

// alike reports whether the similarity of two points is above a threshold. For most pairs the sizes
// and a few bits rule that out: a history has millions of pairs.
func alike(a, b *point, above float64) bool {
	if a.read && b.read {
		m, n := a.shownIn(b), b.shownIn(a)
		both := min(m, n, len(a.specific)-a.lacks(b), len(b.specific)-b.lacks(a))
		either := len(a.generic) + len(b.generic)
		if mean(either, either, cosine(a, b, m, n, both, min(len(a.own), len(b.own))), max(m, n)) <= above {
			return false
		}
	}
	return similarity(a, b) > above
}

// lacks returns how many features of a point the other one certainly lacks.
func (p *point) lacks(o *point) (n int) {
	for i := range p.bits {
		n += bits.OnesCount64(p.bits[i] &^ o.bits[i])
	}
	return n
}

// similarity is S of the paper: the mean of S_p (equation 1, the Jaccard index of the generic
// features) and S_c (equation 2, the cosine of the vectors of specific ones), weighted by the
// cardinalities of both sets, here those of their unions. Two vectors are compared in what both
// dumps show: many phones show no kernel frames, some no native ones, and a log without a line of
// CPU use does not mean that the CPU was idle. Points without features are never alike: there the
// kind decides.
func similarity(a, b *point) float64 {
	if !a.read || !b.read {
		if a.read == b.read && slices.Equal(a.specific, b.specific) {
			return 1
		}
		return 0
	}
	common, either := jaccard(a.generic, b.generic)
	m, n, both := a.shownIn(b), b.shownIn(a), shared(a.specific, b.specific)
	return mean(common, either, cosine(a, b, m, n, both, shared(a.own, b.own)), m+n-both)
}

// cosine is equation 2, for vectors of which m and n features count. They share both features, own
// of which are own ones.
func cosine(a, b *point, m, n, both, own int) float64 {
	const more = ownWeight - 1
	dot := float64(both) + more*float64(own) + a.locks*b.locks + a.length*b.length
	return dot / math.Sqrt((float64(m)+more*float64(len(a.own))+a.shape)*(float64(n)+more*float64(len(b.own))+b.shape))
}

// ownWeight is the weight of a function outside the platform in equation 2, where another feature
// is 1.
const ownWeight = 2

// mean is S: common of the either generic features are shared, and the cosine covers all specific
// features.
func mean(common, either int, cosine float64, all int) float64 {
	const shapes = 2 // numeric dimensions
	weight := float64(all + shapes)
	return (float64(common) + weight*cosine) / (float64(either) + weight)
}

// saturated returns a number as a dimension of a vector, below the 1 of a function: whether there
// is a lock matters more than whether there are nine or eight.
func saturated(n int) float64 { return float64(n) / float64(n+1) }

// shownIn returns how many specific features a point has, of the kinds that the other one's dump
// shows too.
func (p *point) shownIn(o *point) int {
	n := p.elsewhere
	for k := range p.of {
		if o.of[k] > 0 {
			n += p.of[k]
		}
	}
	return n
}

// jaccard counts the shared features, and those of either, among the names that both have. The
// weight of equation 1 is the latter, so that S_p times it is the former.
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

// shared counts the common entries of two sorted lists.
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
