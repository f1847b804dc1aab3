package sidebyside

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// comparing is a comparison of two builds in progress.
type comparing struct {
	policy    gate.Policy
	catalogue *metric.Catalogue
	verdict   *Verdict
	scenarios []*scenario
}

// scenario is one of its scenarios.
type scenario struct {
	name         string
	unit         Unit
	strata       []*stratum
	order        map[string]int // events by their place in the runs
	cells        []run.Cell     // the cells to judge
	unlike       string         // how a context of only one build differs from the other build's
	incomparable []incomparable // what can't be compared, however much of it there is
	lost         []string       // reasons of the incomplete runs, which are left out
	absent       []string       // titles of metrics of the whole run that the head build lacks
	lackedFrames string         // events most of whose frames the head build lacks, "" for none
	tests        []*test
}

// stratum is one context with the runs and the units of both builds in it.
type stratum struct {
	context              map[string]string
	base, head           []run.Run
	baseUnits, headUnits []unit
}

// unit is one observation of a build, with the context of its run, which says how its numbers were
// measured.
type unit struct {
	cells   map[run.Cell]float64
	context map[string]string
}

func (c *comparing) warn(format string, args ...any) {
	c.verdict.Warnings = append(c.verdict.Warnings, run.Warning{Text: fmt.Sprintf(format, args...)})
}

// gather sorts the runs by scenario and context, and makes the tests.
func (c *comparing) gather(base, head []run.Run) {
	byName := map[string]*scenario{}
	add := func(runs []run.Run, isHead bool) {
		for _, r := range runs {
			s := byName[r.Scenario]
			if s == nil {
				s = &scenario{name: r.Scenario}
				byName[r.Scenario] = s
				c.scenarios = append(c.scenarios, s)
			}
			if r.Status != run.Complete {
				s.leaveOut(c, r, isHead)
				continue
			}
			s.add(r, isHead, c.policy.Use)
		}
	}
	add(base, false)
	add(head, true)
	for _, s := range c.scenarios {
		s.both(c)
		s.chooseUnit(c)
		s.chooseCells(c)
		s.findLost(c)
		s.findFewer(c)
		s.makeTests(c)
	}
}

// leaveOut records an incomplete run.
func (s *scenario) leaveOut(c *comparing, r run.Run, isHead bool) {
	side := "base"
	if isHead {
		side = "head"
	}
	c.warn("run %s of the %s, scenario %q, is left out: its status is %q", r.ID, side, r.Scenario, r.Status)
	if len(r.Context) == 0 { // it ended before the device was queried
		s.lost = append(s.lost, fmt.Sprintf("the %s: %s", side, gate.DescribeIncomplete(r)))
		return
	}
	s.lost = append(s.lost, fmt.Sprintf("the %s on %s: %s", side, devctx.Title(r.Context), gate.DescribeIncomplete(r)))
}

func (s *scenario) add(r run.Run, isHead bool, use []string) {
	key := devctx.Key(devctx.Telling(r.Context, use))
	at := slices.IndexFunc(s.strata, func(st *stratum) bool { return devctx.Key(devctx.Telling(st.context, use)) == key })
	if at < 0 {
		at = len(s.strata)
		s.strata = append(s.strata, &stratum{context: r.Context})
	}
	if isHead {
		s.strata[at].head = append(s.strata[at].head, r)
	} else {
		s.strata[at].base = append(s.strata[at].base, r)
	}
}

// both keeps the contexts in which both builds were measured.
func (s *scenario) both(c *comparing) {
	alone := func(st *stratum) bool { return len(st.base) == 0 || len(st.head) == 0 }
	for _, st := range s.strata {
		if !alone(st) {
			continue
		}
		side, unlike := "head", s.differs(st, c.policy.Use)
		if len(st.head) == 0 {
			side = "base"
		}
		c.warn("scenario %q: %s measured the %s build alone, and is left out%s", s.name, devctx.Title(st.context), side, unlike)
		s.unlike = cmp.Or(s.unlike, unlike)
	}
	s.strata = slices.DeleteFunc(s.strata, alone)
}

// differs returns the properties in which a context of only one build differs from the most similar
// context of the other build, such as the same phone with the app compiled differently. It returns
// "" where they have little in common, or where there are too many to compare.
func (s *scenario) differs(st *stratum, use []string) string {
	const few, many = 2, 100
	if len(s.strata) > many {
		return ""
	}
	var least []string
	for _, other := range s.strata {
		if (len(st.base) == 0) == (len(other.base) == 0) {
			continue
		}
		if d := differing(devctx.Telling(st.context, use), devctx.Telling(other.context, use)); least == nil || len(d) < len(least) {
			least = d
		}
	}
	if len(least) == 0 || len(least) > few || len(least) >= len(devctx.Telling(st.context, use)) {
		return ""
	}
	return fmt.Sprintf(": the other build was measured with another value of %s", strings.Join(least, " and "))
}

// differing returns the properties in which two contexts differ.
func differing(a, b map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if v, has := b[name]; !has || v != a[name] {
			out = append(out, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if _, has := a[name]; !has {
			out = append(out, name)
		}
	}
	return out
}

// chooseUnit determines what counts as one observation, and takes the units from the runs.
func (s *scenario) chooseUnit(c *comparing) {
	if len(s.strata) == 0 {
		return
	}
	s.unit = Run
	s.take(c, wholeRuns)
	switch {
	case s.pairUp():
		s.unit = Round
		s.take(c, eachIteration)
	case s.least() > c.policy.Alpha:
		s.unit = Iteration
		s.take(c, eachIteration)
		c.warn("scenario %q: with %s of each build a change of build can't be told from a change of session: the repetitions of one session share its heat and its background work. A difference below %.0f %% is a doubt at most; rounds interleaved by apkgate compare, or runs made at other times, tell more",
			s.name, sessionsOf(s.strata), 100*sessionMinChange)
	}
}

// sessionMinChange is the least change that decides where a build can't be separated from a
// session: a phone's sessions differ by some per cent, a hot one's by more. gate.SuspectChange is
// the least that is a doubt there.
const sessionMinChange = 0.25

func sessionsOf(strata []*stratum) string {
	if len(strata) == 1 && len(strata[0].base) == 1 && len(strata[0].head) == 1 {
		return "one session"
	}
	return "so few sessions"
}

// pairUp pairs the runs in all contexts, and reports whether that was possible in each.
func (s *scenario) pairUp() bool {
	all := true
	for _, st := range s.strata {
		all = st.pairUp() && all
	}
	return all
}

// pairUp pairs the runs of both builds if they were made alternately: each run of one shares its
// session with one of the other. Several in one session, as of two phones of one model, are paired
// in their order. It reports whether all were paired.
func (st *stratum) pairUp() bool {
	if len(st.base) != len(st.head) {
		return false
	}
	left := slices.Clone(st.head)
	var beside []run.Run
	for _, b := range st.base {
		at := slices.IndexFunc(left, func(h run.Run) bool { return h.Session == b.Session })
		if b.Session == "" || at < 0 {
			return false
		}
		beside = append(beside, left[at])
		left = slices.Delete(left, at, at+1)
	}
	st.head = beside
	return true
}

// take makes units of the runs.
func (s *scenario) take(c *comparing, of func(run.Run, *comparing) []unit) {
	for _, st := range s.strata {
		st.baseUnits, st.headUnits = nil, nil
		for i, r := range st.base {
			base := of(r, c)
			if s.unit != Round {
				st.baseUnits = append(st.baseUnits, base...)
				continue
			}
			head := of(st.head[i], c)
			rounds := min(len(base), len(head))
			st.baseUnits, st.headUnits = append(st.baseUnits, base[:rounds]...), append(st.headUnits, head[:rounds]...)
		}
		for _, r := range st.head {
			if s.unit != Round {
				st.headUnits = append(st.headUnits, of(r, c)...)
			}
		}
	}
}

func wholeRuns(r run.Run, c *comparing) []unit {
	return []unit{{run.Summarize(r, c.policy.Centre, c.catalogue).Cells.Map(), r.Context}}
}

func eachIteration(r run.Run, c *comparing) []unit {
	var out []unit
	for _, it := range r.Iterations {
		one := run.Run{Iterations: []run.Iteration{it}}
		out = append(out, unit{run.Summarize(one, c.policy.Centre, c.catalogue).Cells.Map(), r.Context})
	}
	return out
}

// paired reports whether the units of the strata are paired: rounds, or one run of each build on
// each of several devices.
func (s *scenario) paired() bool {
	return s.unit == Round || s.unit == Run && len(s.strata) > 1 &&
		!slices.ContainsFunc(s.strata, func(st *stratum) bool { return len(st.baseUnits) != 1 || len(st.headUnits) != 1 })
}

// least returns the smallest chance that a test of all contexts together can reach.
func (s *scenario) least() float64 {
	var strata []stat.Pair
	for _, st := range s.strata {
		var p stat.Pair
		for i := range st.baseUnits {
			p.X = append(p.X, float64(i))
		}
		for i := range st.headUnits {
			p.Y = append(p.Y, float64(len(p.X)+i))
		}
		strata = append(strata, p)
	}
	return rankTest(strata, s.paired()).Least
}

// rankTest returns the test that suits the samples.
func rankTest(strata []stat.Pair, paired bool) stat.RankTest {
	switch {
	case paired:
		return stat.SignedRank(stat.Differences(strata))
	case len(strata) == 1:
		return stat.MannWhitney(strata[0].X, strata[0].Y)
	}
	return stat.VanElteren(strata)
}
