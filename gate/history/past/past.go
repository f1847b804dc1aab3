// Package past finds what the history of a number shows about its next value: the values that can
// be compared with it, session by session, their present level, and the prediction for the next
// session.
//
// Only comparable values are compared. Other contexts contribute where the run's own has few
// sessions, and no more than they have shown. Where it has none they predict a level, with the
// uncertainty of an unmeasured context. The package makes no verdict.
package past

import (
	"iter"
	"maps"
	"math"
	"slices"
	"sync"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history/contexts"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Runs is the history from the point of view of one new run.
type Runs struct {
	Now      map[string]string         // the new run's context
	Ranked   []devctx.Ranked           // most similar first
	Refs     []*run.Summary            // in the order of ranked
	Groups   []int                     // context of each ref
	contexts func() *contexts.Contexts // of the groups, made on first use
	withNow  func() *contexts.Contexts // with the new run's own added
	Own      int                       // the group of the new run's own context, or -1
	count    int                       // of groups

	sessionOf  []int // of each ref the number of its session among those of its group
	sessionsIn []int // of each group how many sessions it has

	weights []float64              // of ranked
	Sampled int                    // how many values of a cell are kept for a figure
	table   map[run.Cell][]float64 // the numbers of each judged cell: see Tabulate
	alike   map[way][]bool         // which runs' values are comparable: see comparable
}

// RunsOf returns the history for a run of the context now, by the properties in use; nil means all
// but those set aside.
func RunsOf(now map[string]string, refs []run.Summary, use []string) Runs {
	theirs := contextsOf(now, refs, use)
	p := Runs{Now: now, Ranked: devctx.Rank(now, theirs, use), alike: map[way][]bool{}}
	p.Refs, p.Groups, p.weights = make([]*run.Summary, len(refs)), make([]int, len(refs)), make([]float64, len(refs))
	g := devctx.NewGroups(use)
	for i, r := range p.Ranked {
		p.Refs[i], p.Groups[i], p.weights[i] = &refs[r.Index], g.Of(theirs[r.Index]), r.Weight
	}
	p.Own, p.count = g.Find(now), len(g.Distinct())
	p.sessionOf, p.sessionsIn = numbered(p.Refs, p.Groups, p.count)
	p.contexts = sync.OnceValue(func() *contexts.Contexts { return contexts.Of(g.Distinct()) })
	p.withNow = sync.OnceValue(func() *contexts.Contexts { return contexts.With(g.Distinct(), devctx.Only(now, use)) })
	return p
}

// contextsOf returns the contexts of the references. Properties of the present device that were not
// yet recorded then are assumed to be the same, unless the properties are configured.
func contextsOf(now map[string]string, refs []run.Summary, use []string) []devctx.Properties {
	theirs := make([]devctx.Properties, len(refs))
	for i, r := range refs {
		theirs[i] = r.Context
	}
	if use != nil || now[devctx.Virtual] == "" {
		return theirs
	}
	age, sorted := make([]int, len(refs)), make([]devctx.Properties, len(refs))
	for i := range age {
		age[i] = i
	}
	slices.SortStableFunc(age, func(a, b int) int { return refs[a].Started.Compare(refs[b].Started) })
	for i, place := range age {
		sorted[i] = theirs[place]
	}
	for i, c := range devctx.Supposed(now, sorted) {
		theirs[age[i]] = c
	}
	return theirs
}

// Seen is what a verdict reports of the history of a run.
type Seen struct {
	Total int
	Own   bool // whether some are of the run's own context
	// OwnRuns counts the runs of the own context, and OwnSessions their sessions.
	OwnRuns, OwnSessions int
	List                 []gate.Reference      // at most MaxListed, most similar first
	Ways                 map[run.Cell][]string // of cells without a comparable value: see Runs.Ways
}

// Seen returns what a verdict reports of the history.
func (p Runs) Seen() Seen {
	s := Seen{Total: len(p.Refs), Own: p.Own >= 0, List: []gate.Reference{}, Ways: map[run.Cell][]string{}}
	for i, r := range p.Ranked[:min(len(p.Ranked), gate.MaxListed)] {
		s.List = append(s.List, gate.Reference{ID: p.Refs[i].ID, Similarity: r.Similarity, Weight: r.Weight, Cluster: r.Cluster})
	}
	sessions := map[string]bool{}
	for i, r := range p.Refs {
		if p.Groups[i] != p.Own {
			continue
		}
		if s.OwnRuns++; !sessions[r.Session] {
			s.OwnSessions++
			sessions[r.Session] = r.Session != ""
		}
	}
	return s
}

// Tabulate gathers the numbers of the cells that are to be judged, once for all.
func (p *Runs) Tabulate(cells []run.Cell) { p.table = run.Table(cells, p.Cells(), len(p.Refs)) }

// Cells returns the cells of each run of the history.
func (p Runs) Cells() iter.Seq[run.Cells] {
	return func(yield func(run.Cells) bool) {
		for _, r := range p.Refs {
			if !yield(r.Cells) {
				return
			}
		}
	}
}

// Kinds counts the accepted runs that have one of the cells: those measured in the same way as the
// metric in the new run, and those measured in other ways, which are named. If runs of the new
// run's own context have them, only those count (own).
func (p Runs) Kinds(cells []run.Cell, m metric.Metric) (same, other int, ways []string, own bool) {
	seen := map[string]bool{}
	for i, r := range p.Refs {
		if !p.has(i, cells) {
			continue
		}
		if p.Groups[i] == p.Own && !own { // runs of other contexts count no more
			own, same, other, seen = true, 0, 0, map[string]bool{}
		}
		switch {
		case own && p.Groups[i] != p.Own:
		case m.Comparable(r.Context, p.Now):
			same++
		default:
			other++
			seen[m.Way(r.Context)] = true
		}
	}
	return same, other, slices.Sorted(maps.Keys(seen)), own
}

// has reports whether a run of the history has one of the cells, which are tabulated.
func (p Runs) has(ref int, cells []run.Cell) bool {
	return slices.ContainsFunc(cells, func(c run.Cell) bool { return p.table[c] != nil && !math.IsNaN(p.table[c][ref]) })
}

// Ways returns the ways in which the history's values of a cell were measured, each once.
func (p Runs) Ways(cell run.Cell, m metric.Metric) []string {
	seen := map[string]bool{}
	for _, r := range p.Refs {
		if _, has := r.Cells.Get(cell); has {
			seen[m.Way(r.Context)] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}
