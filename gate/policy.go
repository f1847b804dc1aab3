package gate

import (
	"slices"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// The presets.
const (
	// PresetDefault is apkgate's own: history clears a build and rounds beside the base
	// build decide the rest, like is compared with like, multiplicity kept in check.
	PresetDefault = "default"
	// PresetDune reproduces the paper: the nearest clusters only, the new run
	// inside the sample, fences alone, its three metrics of the whole run.
	PresetDune = "dune"
)

// Presets are the names that PolicyOf takes.
func Presets() []string { return []string{PresetDefault, PresetDune} }

// Policy is how a run is judged.
type Policy struct {
	Preset string
	// Centre sums up a run's iterations.
	Centre run.Centre
	// OutlierFactor is the paper's OF: how many interquartile ranges beyond
	// the quartiles the fences stand.
	OutlierFactor float64
	// MinSupport and MinConfidence are the thresholds of the context rules.
	MinSupport, MinConfidence float64
	// SupportOfAll makes MinSupport a share of all runs, the history's included,
	// as in the paper (section 5.4). Otherwise it is one of the runs that are
	// checked: a longer history doesn't make fewer rules.
	SupportOfAll bool
	// Alpha is the share of checks of unchanged builds that may fail by chance,
	// over all comparisons of a check together. The preset dune has no such control.
	Alpha float64
	// MinHistory is how many values a judgement needs behind it.
	MinHistory int
	// MinChange is the least change, as a share of what is expected, that matters.
	MinChange float64
	// MinEffect is the worsening that must not be overlooked, as a share of what is
	// expected, of a ratio in points: a comparison is cleared where one as large would
	// hardly look as good. The preset dune has no such thing: 0.
	MinEffect float64
	// Budget is what may be measured beside the base build where history clears nothing.
	Budget Budget
	// DriftBudget is how far a metric may move within a quarter before it is said to
	// creep, as a share; nil means MinChange.
	DriftBudget *float64
	// Metrics are those to judge; nil means every summary metric that has a
	// direction, and a detail where its summary is absent; none of those that are judged
	// on request.
	Metrics []string
	// Use are the context properties that count where runs are compared; nil means all
	// but those that the context package sets aside.
	Use []string
	// RuleUse are the context properties that rules are made of; nil means Use.
	RuleUse []string
	// Cluster is how much of the history the preset dune takes; "" means ClusterJoined.
	Cluster Cluster
	// Quartiles is the preset dune's rule for them; "" means QuartilesType6.
	Quartiles Quartiles
	// Grain chooses the paper's modes; "" means the preset's: Both, and of dune Coarse
	// with the events that thresholds name.
	Grain Grain
	// Thresholds override the above for a metric and event.
	Thresholds []Threshold
	// Accepting is how runs come to be accepted where this check is made, as a hint
	// says it; "" is by their id, on the command line.
	Accepting string
	// Settling is how what is open comes to be measured beside the base build where this
	// check is made, as a hint says it; "" is on the command line.
	Settling string
}

// Grain is the paper's coarse or fine-grained mode (section 5.2.2).
type Grain string

// The grains.
const (
	Both   Grain = "both"
	Coarse Grain = "coarse" // the whole run
	Fine   Grain = "fine"   // each UI event
)

// Grains are the values that Policy.Grain can have.
func Grains() []Grain { return []Grain{Both, Coarse, Fine} }

// Cluster is how the preset dune reads "the nearest cluster will be used" (paper,
// section 5.3.2).
type Cluster string

// The readings.
const (
	// ClusterJoined joins the next clusters in rank until there are five references:
	// with fewer its fences can't flag anything.
	ClusterJoined Cluster = "joined"
	// ClusterLiteral takes the nearest cluster alone, however small it is.
	ClusterLiteral Cluster = "literal"
)

// Clusters are the values that Policy.Cluster can have.
func Clusters() []Cluster { return []Cluster{ClusterJoined, ClusterLiteral} }

// Quartiles is the rule by which the preset dune finds them: the paper computes by one
// rule, and says that it ran another.
type Quartiles string

// The rules.
const (
	// QuartilesType6 is Hyndman and Fan's type 6, of the paper's worked example (section
	// 5.3.3).
	QuartilesType6 Quartiles = "type-6"
	// QuartilesWeka is that of Weka's filter InterquartileRange, which the paper names.
	QuartilesWeka Quartiles = "weka"
)

// QuartileRules are the values that Policy.Quartiles can have.
func QuartileRules() []Quartiles { return []Quartiles{QuartilesType6, QuartilesWeka} }

// RuleProperties are the context properties that rules are made of; nil means all but
// those that the context package sets aside.
func (p Policy) RuleProperties() []string {
	if p.RuleUse != nil {
		return p.RuleUse
	}
	return p.Use
}

// Threshold overrides the policy for one metric in one event: "" is the whole
// run, AnyEvent the whole run and each event that have no threshold of their
// own. What is nil overrides nothing.
type Threshold struct {
	Metric, Event string
	MinChange     *float64
	OutlierFactor *float64
	Max, Min      *float64 // absolute budgets: beyond them is a regression whatever the history
	Ignore        bool
}

// AnyEvent as a threshold's Event means all that no other names.
const AnyEvent = "*"

// PolicyOf returns a preset's policy; false for a name that is none.
func PolicyOf(preset string) (Policy, bool) {
	p := Policy{
		Preset: preset, Centre: run.Median, OutlierFactor: 1.5, MinSupport: 0.01, MinConfidence: 0.9,
		Alpha: 0.01, MinHistory: 5, MinChange: 0.05, MinEffect: 0.1,
	}
	switch preset {
	case PresetDefault:
		return p, true
	case PresetDune:
		p.SupportOfAll, p.Centre, p.Alpha, p.MinHistory, p.MinChange, p.MinEffect = true, run.Mean, 0, 0, 0, 0
		p.Metrics = []string{"frames.count", "frames.duration_ms", "frames.smooth_ratio"} // section 5.1
		return p, true
	}
	return Policy{}, false
}

// SuspectChange is the least worsening that is worth a doubt where there is too
// little to be sure: few runs of the own context, one session of each build.
const SuspectChange = 0.10

// WithLevel is the policy, with the default's Alpha where it sets none.
func (p Policy) WithLevel() Policy {
	if p.Alpha <= 0 {
		standard, _ := PolicyOf(PresetDefault)
		p.Alpha = standard.Alpha
	}
	return p
}

// Catalogue is base with the metrics that the runs declare, and what is doubtful of
// it. A metric that can't be read is not judged.
func Catalogue(base *metric.Catalogue, runs ...run.Run) (*metric.Catalogue, []run.Warning) {
	joined, err := run.Catalogue(base, runs...)
	if err != nil {
		return base, []run.Warning{{Text: "what the runs declare of their metrics is left out: " + err.Error()}}
	}
	return joined, nil
}

// LeastRuns is how many runs of its own context a judgement needs at least: of
// one there is no spread.
func (p Policy) LeastRuns() int { return max(p.MinHistory, 2) }

// CellPolicy is what applies to one cell, as Policy.ForCell makes it of the policy and
// the threshold that overrides it.
type CellPolicy struct {
	OutlierFactor, MinChange float64
	max, min                 *float64
	ignore                   bool
	named                    bool // a threshold asks for it
}

// ForCell is what applies to a cell: the policy's own, but for what the threshold of its
// metric and event overrides.
func (p Policy) ForCell(c run.Cell) CellPolicy {
	out := CellPolicy{OutlierFactor: p.OutlierFactor, MinChange: p.MinChange}
	t, ok := p.threshold(c)
	if !ok {
		return out
	}
	if t.OutlierFactor != nil {
		out.OutlierFactor = *t.OutlierFactor
	}
	if t.MinChange != nil {
		out.MinChange = *t.MinChange
	}
	out.max, out.min, out.ignore, out.named = t.Max, t.Min, t.Ignore, !t.Ignore
	return out
}

// Broken is the absolute budget that the value breaks, nil for none.
func (p CellPolicy) Broken(value float64) *float64 {
	switch {
	case p.max != nil && value > *p.max:
		return p.max
	case p.min != nil && value < *p.min:
		return p.min
	}
	return nil
}

// threshold is the one that names the cell's event, or else the one for any.
func (p Policy) threshold(c run.Cell) (found Threshold, ok bool) {
	for _, t := range p.Thresholds {
		if t.Metric != c.Metric {
			continue
		}
		if t.Event == c.Event {
			return t, true
		}
		if t.Event == AnyEvent {
			found, ok = t, true
		}
	}
	return found, ok
}

// LeastFrames is how many frames there have to be before half of them is a loss, and
// no accident.
const LeastFrames = 10

// RestsOn reports whether what is judged of a cell's event rests on the cell, which
// is not judged itself: the frames that a smooth ratio is of. Where most of them are
// gone, the measurement may be broken.
func (p Policy) RestsOn(c run.Cell, catalogue *metric.Catalogue) bool {
	m, _ := catalogue.Lookup(c.Metric)
	at := p.ForCell(c)
	count := m.OnRequest && m.Unit == "frames"
	if !count || p.passedOver(c) || at.ignore || at.named {
		return false
	}
	if p.Metrics == nil {
		return true
	}
	return !slices.Contains(p.Metrics, c.Metric) && slices.ContainsFunc(p.Metrics, func(name string) bool {
		other, _ := catalogue.Lookup(name)
		return other.Within == m.Within
	})
}

// passedOver reports whether the policy's grain leaves a cell out.
func (p Policy) passedOver(c run.Cell) bool {
	switch p.Grain {
	case Coarse:
		return c.Event != ""
	case Fine:
		return c.Event == ""
	case Both:
		return false
	}
	return p.Preset == PresetDune && c.Event != "" && !p.ForCell(c).named // section 5.3.3: coarse by default
}

// Named reports whether a threshold asks for a metric of an event.
func (p Policy) Named(event, name string) bool {
	return p.ForCell(run.Cell{Event: event, Metric: name}).named
}

// Decides reports whether a judged cell of the whole run has a say of its own in the verdict:
// it has to be cleared for the run to pass. The others are shown, and fail a run only where
// there is no doubt. Of UI events the history says which can be judged.
func (p Policy) Decides(c run.Cell, catalogue *metric.Catalogue) bool {
	m, known := catalogue.Lookup(c.Metric)
	if m.Of != "" && !m.Decides { // it is judged in place of its summary
		m, known = catalogue.Lookup(m.Of)
	}
	return m.Decides || !known || p.ForCell(c).named || slices.Contains(p.Metrics, c.Metric)
}

// Judged reports whether a cell of the summary is to be judged.
func (p Policy) Judged(c run.Cell, s run.Summary, catalogue *metric.Catalogue) bool {
	at := p.ForCell(c)
	if p.passedOver(c) || at.ignore {
		return false
	}
	m, _ := catalogue.Lookup(c.Metric)
	if m.Direction == metric.Neutral {
		return false
	}
	if at.named {
		return true
	}
	if p.Metrics != nil {
		return slices.Contains(p.Metrics, c.Metric)
	}
	if m.OnRequest {
		return false
	}
	if m.Of == "" || (m.Decides && c.Event == "") {
		return true
	}
	_, summarised := s.Cells.Get(run.Cell{Event: c.Event, Metric: m.Of})
	return !summarised
}
