package gate

import (
	"slices"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// The presets.
const (
	// PresetDefault is apkgate's own method: the history clears a build, and rounds with the base
	// build decide the rest. Only comparable runs are compared, and the error rate of all
	// comparisons together is controlled.
	PresetDefault = "default"
	// PresetDune reproduces the paper: the nearest clusters only, the new run inside the sample,
	// fences alone, its three metrics of the whole run.
	PresetDune = "dune"
)

// Presets returns the names that PolicyOf accepts.
func Presets() []string { return []string{PresetDefault, PresetDune} }

// Policy configures how a run is judged.
type Policy struct {
	Preset string
	// Centre summarizes a run's iterations.
	Centre run.Centre
	// OutlierFactor is the paper's OF: the distance of the fences from the quartiles, in
	// interquartile ranges.
	OutlierFactor float64
	// MinSupport and MinConfidence are the thresholds of the context rules.
	MinSupport, MinConfidence float64
	// SupportOfAll makes MinSupport a share of all runs including the history's, as in the paper
	// (section 5.4). Otherwise it is a share of the checked runs, so that a longer history doesn't
	// make fewer rules.
	SupportOfAll bool
	// Alpha is the share of checks of unchanged builds that may fail by chance, over all
	// comparisons of a check together. The preset dune has no such control.
	Alpha float64
	// MinHistory is the least number of values that a judgement needs.
	MinHistory int
	// MinChange is the least change that matters, as a share of the expected value.
	MinChange float64
	// MinEffect is the worsening that must not be overlooked, as a share of the expected value, of
	// a ratio in points. A comparison is cleared where a worsening this large would hardly look as
	// good. It is 0 in the preset dune, which has no such check.
	MinEffect float64
	// Budget limits what may be measured with the base build where the history does not clear the
	// run.
	Budget Budget
	// DriftBudget is how far a metric may move within a quarter before drift is reported, as a
	// share; nil means MinChange.
	DriftBudget *float64
	// Metrics are the metrics to judge; nil means every summary metric that has a direction, and a
	// detail where its summary is absent, but none that is judged on request only.
	Metrics []string
	// Use are the context properties by which runs are compared; nil means all but those that the
	// context package sets aside.
	Use []string
	// RuleUse are the context properties that rules may use; nil means Use.
	RuleUse []string
	// Cluster is how much of the history the preset dune uses; "" means ClusterJoined.
	Cluster Cluster
	// Quartiles is the quartile rule of the preset dune; "" means QuartilesType6.
	Quartiles Quartiles
	// Grain selects the paper's modes; "" means the preset's: Both, and for dune Coarse with the
	// events that thresholds name.
	Grain Grain
	// Thresholds override the fields above for a metric and event.
	Thresholds []Threshold
	// Accepting is the hint on how runs are accepted where this check is made; "" is by their id,
	// on the command line.
	Accepting string
	// Settling is the hint on how undecided comparisons are measured with the base build where this
	// check is made; "" is on the command line.
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

// Grains returns the values of Policy.Grain.
func Grains() []Grain { return []Grain{Both, Coarse, Fine} }

// Cluster is how the preset dune reads "the nearest cluster will be used" (paper, section 5.3.2).
type Cluster string

// The readings.
const (
	// ClusterJoined joins the next clusters in rank until there are five references: with fewer the
	// fences can't flag anything.
	ClusterJoined Cluster = "joined"
	// ClusterLiteral uses the nearest cluster alone, however small it is.
	ClusterLiteral Cluster = "literal"
)

// Clusters returns the values of Policy.Cluster.
func Clusters() []Cluster { return []Cluster{ClusterJoined, ClusterLiteral} }

// Quartiles is the quartile rule of the preset dune. The paper computes by one rule, and says that
// it ran another.
type Quartiles string

// The rules.
const (
	// QuartilesType6 is Hyndman and Fan's type 6, that of the paper's worked example (section
	// 5.3.3).
	QuartilesType6 Quartiles = "type-6"
	// QuartilesWeka is the rule of Weka's filter InterquartileRange, which the paper names.
	QuartilesWeka Quartiles = "weka"
)

// QuartileRules returns the values of Policy.Quartiles.
func QuartileRules() []Quartiles { return []Quartiles{QuartilesType6, QuartilesWeka} }

// RuleProperties returns the context properties that rules may use; nil means all but those that
// the context package sets aside.
func (p Policy) RuleProperties() []string {
	if p.RuleUse != nil {
		return p.RuleUse
	}
	return p.Use
}

// Threshold overrides the policy for one metric in one event. The event "" is the whole run;
// AnyEvent is the whole run and each event without a threshold of its own. A nil field overrides
// nothing.
type Threshold struct {
	Metric, Event string
	MinChange     *float64
	OutlierFactor *float64
	Max, Min      *float64 // absolute budgets: a value beyond them is a regression whatever the history
	Ignore        bool
}

// AnyEvent as a threshold's Event means every event without a threshold of its own.
const AnyEvent = "*"

// PolicyOf returns a preset's policy, and false for an unknown preset.
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

// SuspectChange is the least worsening that is reported as a doubt where there is too little to be
// sure: few runs in the run's own context, or one session of each build.
const SuspectChange = 0.10

// WithLevel returns the policy, with the default Alpha where it sets none.
func (p Policy) WithLevel() Policy {
	if p.Alpha <= 0 {
		standard, _ := PolicyOf(PresetDefault)
		p.Alpha = standard.Alpha
	}
	return p
}

// Catalogue returns base with the metrics that the runs declare, and warnings about those
// declarations. A metric whose declaration is invalid is not judged.
func Catalogue(base *metric.Catalogue, runs ...run.Run) (*metric.Catalogue, []run.Warning) {
	joined, err := run.Catalogue(base, runs...)
	if err != nil {
		return base, []run.Warning{{Text: "what the runs declare about their metrics is ignored: " + err.Error()}}
	}
	return joined, nil
}

// LeastRuns returns how many runs of its own context a judgement needs: at least 2, as one has no
// spread.
func (p Policy) LeastRuns() int { return max(p.MinHistory, 2) }

// CellPolicy is the policy for one cell, as returned by Policy.ForCell.
type CellPolicy struct {
	OutlierFactor, MinChange float64
	max, min                 *float64
	ignore                   bool
	named                    bool // a threshold names it
}

// ForCell returns the policy for a cell: the policy's own values, overridden by the threshold of
// its metric and event.
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

// Broken returns the absolute budget that the value breaks, or nil.
func (p CellPolicy) Broken(value float64) *float64 {
	switch {
	case p.max != nil && value > *p.max:
		return p.max
	case p.min != nil && value < *p.min:
		return p.min
	}
	return nil
}

// threshold returns the threshold of the cell's event, or else that of AnyEvent.
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

// LeastFrames is the least number of frames of which losing half counts as a loss rather than an
// accident.
const LeastFrames = 10

// RestsOn reports whether judged cells of the same event depend on this cell, which is not judged
// itself: the number of frames behind a smooth ratio. Where most frames are missing, the
// measurement may be broken.
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

// passedOver reports whether the policy's grain excludes a cell.
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

// Decides reports whether a judged cell of the whole run decides the verdict: it has to be cleared
// for the run to pass. Other cells are shown, and fail a run only where there is no doubt. For UI
// events the history determines which can be judged.
func (p Policy) Decides(c run.Cell, catalogue *metric.Catalogue) bool {
	m, known := catalogue.Lookup(c.Metric)
	if m.Of != "" && !m.Decides { // judged in place of its summary
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
