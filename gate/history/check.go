package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/dune"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// check is the judgement of one subject in progress.
type check struct {
	policy       gate.Policy
	catalogue    *metric.Catalogue
	run          run.Run
	summary      run.Summary
	past         past.Runs      // released when all cells are judged
	seen         past.Seen      // what the verdict reports of it
	setting      setting        // that alone separates the run's context from that of accepted ones
	beside       int            // accepted runs of the same session
	clusters     int            // how many of the nearest clusters the preset dune used
	context      string         // as a key
	order        map[string]int // events by their place in the run
	judged       []*judgement
	work         []gate.Comparison // counts that are clearly higher
	done         []gate.Comparison // in the order of events, then of the catalogue
	incomparable []incomparable
	kinds        []kind
	reported     []string // properties of kinds that the whole verdict reports
	lost         []missingMetric
	lackedEvents string // events that always took place and did not in this run, "" for none
	lackedFrames string // events most of whose frames are missing, "" for none
	warnings     []run.Warning
	invalid      bool
}

func newCheck(p gate.Policy, catalogue *metric.Catalogue, s Subject) *check {
	catalogue, doubts := gate.Catalogue(catalogue, s.Run)
	c := &check{policy: p, catalogue: catalogue, run: s.Run, order: map[string]int{"": -1}}
	c.warnings = slices.Concat(doubts, s.Run.Warnings)
	c.summary = run.Summarize(s.Run, p.Centre, catalogue)
	c.past = past.RunsOf(c.summary.Context, others(s), p.Use)
	c.past.Sampled = cmp.Or(s.sampled, gate.MaxListed)
	c.seen, c.beside = c.past.Seen(), ownSession(s)
	defer func() { c.past = past.Runs{} }()
	c.invalid = s.Run.Status != run.Complete
	if c.invalid {
		if s.Run.Why() != "" {
			c.warnings = c.warnings[:len(c.warnings)-1] // it is the reason
		}
		return c
	}
	for i, name := range run.EventOrder(s.Run) {
		c.order[name] = i
	}
	c.setting = settingOf(p, c.summary.Context, others(s))
	c.context = devctx.Key(devctx.Only(c.summary.Context, p.Use))
	cells, frames, counted := c.cells(), c.framesOfCells(), c.counted()
	c.past.Tabulate(slices.Concat(cells, frames, counted))
	for _, cell := range cells {
		c.judge(cell)
	}
	c.letAllDecide()
	c.work = c.clearlyMore(counted)
	c.kinds = c.kindsOf(cells)
	c.warnMissingEvents()
	c.lackedEvents = c.missingEvents()
	c.lackedFrames = c.fewerFrames(frames)
	c.lost = c.missingMetrics()
	c.warnMissing()
	c.warnSmallCluster()
	return c
}

// judge judges one cell of the run by its history.
func (c *check) judge(cell run.Cell) {
	m, _ := c.catalogue.Lookup(cell.Metric)
	x, _ := c.summary.Cells.Get(cell)
	n := 0
	if c.policy.Preset == gate.PresetDune {
		d, clusters := dune.Judge(c.policy, cell, x, c.past, m)
		c.done, n, c.clusters = append(c.done, d), d.N, max(c.clusters, clusters)
	} else {
		j := judge(c.policy, cell, c.summary, x, c.past, c.catalogue)
		j.context = c.context
		c.judged, n = append(c.judged, j), j.evidence.N
	}
	if n == 0 && m.Within != "" {
		c.seen.Ways[cell] = c.past.Ways(cell, m)
	}
}

// others returns the history without the run itself, without runs that can't be compared with it,
// and without the runs of its session: these were made side by side with it and are no independent
// evidence.
func others(s Subject) []run.Summary {
	away := func(r run.Summary) bool {
		return s.itself(r) || s.beside(r) || !devctx.Comparable(r.Context, s.Run.Context)
	}
	if !slices.ContainsFunc(s.References, away) {
		return s.References
	}
	return slices.DeleteFunc(slices.Clone(s.References), away)
}

func (s Subject) itself(r run.Summary) bool { return r.ID != "" && r.ID == s.Run.ID }

func (s Subject) beside(r run.Summary) bool { return r.Session != "" && r.Session == s.Run.Session }

// ownSession counts the references of the run's own session.
func ownSession(s Subject) int {
	n := 0
	for _, r := range s.References {
		if s.beside(r) && !s.itself(r) {
			n++
		}
	}
	return n
}

// cells returns the cells to judge: the whole run first, then events in their order.
func (c *check) cells() []run.Cell {
	var out []run.Cell
	for cell := range c.summary.Cells.All() {
		if c.policy.Judged(cell, c.summary, c.catalogue) {
			out = append(out, cell)
		}
	}
	slices.SortFunc(out, c.inOrder)
	return out
}

// counted returns the cells of the whole run that count work and are not judged.
func (c *check) counted() []run.Cell {
	if c.policy.Preset == gate.PresetDune { // it knows no intervals
		return nil
	}
	var out []run.Cell
	for cell := range c.summary.Cells.All() {
		m, _ := c.catalogue.Lookup(cell.Metric)
		if m.Counted && cell.Event == "" && !c.policy.Judged(cell, c.summary, c.catalogue) {
			out = append(out, cell)
		}
	}
	slices.SortFunc(out, c.inOrder)
	return out
}

// clearlyMore returns the comparisons of these cells that lie above what the sessions of the run's
// own context predict: by a change that matters, with the whole interval above zero.
func (c *check) clearlyMore(cells []run.Cell) []gate.Comparison {
	var out []gate.Comparison
	for _, cell := range cells {
		x, _ := c.summary.Cells.Get(cell)
		j := judge(c.policy, cell, c.summary, x, c.past, c.catalogue)
		fill(c.policy, j)
		if j.enough(c.policy) && j.matters() && j.worsening() >= j.policy.MinChange && j.Low != nil && *j.Low > 0 {
			j.Sample, j.Shown = nil, true
			out = append(out, j.Comparison)
		}
	}
	return out
}

// inOrder sorts the whole run first, then events in their order.
func (c *check) inOrder(a, b run.Cell) int {
	return cmp.Or(cmp.Compare(c.order[a.Event], c.order[b.Event]), cmp.Compare(a.Event, b.Event), c.catalogue.Compare(a.Metric, b.Metric))
}

// warnMissingEvents names UI events that the history has and the run lacks: an event that did not
// happen can't be judged.
func (c *check) warnMissingEvents() {
	if len(c.past.Refs) == 0 {
		return
	}
	has := map[string]bool{}
	for cell := range c.summary.Cells.All() {
		has[cell.Event] = true
	}
	_, had := run.Count(c.past.Cells())
	for _, event := range slices.Sorted(maps.Keys(had)) {
		if !has[event] && event != "" && 2*had[event] > len(c.past.Refs) {
			c.warnings = append(c.warnings, run.Warning{Text: fmt.Sprintf(
				"event %q is in %d of %d runs of the history and not in this one", event, had[event], len(c.past.Refs))})
		}
	}
}

// judgeTogether makes the decisions that need all comparisons of all subjects.
func judgeTogether(p gate.Policy, checks []*check) {
	var all []*judgement
	runs := 0
	for _, c := range checks {
		all = append(all, c.judged...)
		if len(c.judged) > 0 {
			runs++
		}
	}
	shareCommon(p, checks)
	chooseEffects(p, checks)
	correct(p, all, runs)
	contradict(all)
	for _, j := range all {
		decide(p, j)
	}
	for _, c := range checks {
		c.markAfterEffects()
		for _, j := range c.judged {
			c.done = append(c.done, j.Comparison)
		}
	}
}

// afterEffectShare is the largest deviation that counts as an after-effect, as a share of that of
// the event before.
const afterEffectShare = 0.5

// markAfterEffects finds deviations that are after-effects of the event just before: the app had
// not recovered yet (paper, section 8.4). An event is an after-effect if everything that is worse
// about it was at least twice as bad just before. It is shown under its cause and has no label of
// its own.
func (c *check) markAfterEffects() {
	worse := map[string]map[string]*judgement{} // by event, then metric
	for _, j := range c.judged {
		if j.Direction != gate.ToRegression && j.Direction != gate.Suspect {
			continue
		}
		if worse[j.Event] == nil {
			worse[j.Event] = map[string]*judgement{}
		}
		worse[j.Event][j.Metric] = j
	}
	names := run.EventOrder(c.run)
	itself := false // the event before is an after-effect
	for i := 1; i < len(names); i++ {
		before, now := worse[names[i-1]], worse[names[i]]
		itself = !itself && leftBy(before, now)
		if !itself {
			continue
		}
		for _, j := range now {
			j.AfterEffectOf = names[i-1]
		}
	}
}

func leftBy(before, now map[string]*judgement) bool {
	for name, j := range now {
		cause, ok := before[name]
		if !ok || j.Limit != nil || j.size() > afterEffectShare*cause.size() {
			return false
		}
	}
	return len(now) > 0
}

// size returns how bad a deviation is: the share lost where higher is better, the logarithm of the
// factor where lower is.
func (j *judgement) size() float64 {
	if j.metric.Signed {
		return math.Abs(j.Value - j.Expected)
	}
	if j.metric.Direction == metric.HigherIsBetter || j.Expected <= 0 || j.Value <= 0 {
		return math.Abs(j.Change)
	}
	return math.Abs(math.Log(j.Value / j.Expected))
}
