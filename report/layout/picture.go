package layout

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
)

// toneOf is a direction as a tone.
func toneOf(d gate.Direction) document.Tone {
	switch d {
	case gate.ToRegression:
		return document.Worse
	case gate.ToImprovement:
		return document.Better
	case gate.Suspect:
		return document.Suspect
	}
	return document.Neutral
}

// history draws a finding's runs below one box where their histories look the same.
func (f finding) history() figure.History {
	fig := figure.History{Metric: f.Metric, Title: f.what()}
	tolerance := 0.02 * f.span()
	var drawn []gate.Comparison // of each box, the first
	for _, h := range f.Hits {
		i := slices.IndexFunc(drawn, func(c gate.Comparison) bool { return alike(c, h.Comparison, tolerance) })
		if i < 0 && len(drawn) < 64 { // beyond what is drawn, the first box will do
			i = len(drawn)
			drawn = append(drawn, h.Comparison)
			fig.Boxes = append(fig.Boxes, boxOf(h.Comparison))
		}
		box := &fig.Boxes[max(i, 0)]
		box.Marks = append(box.Marks, figure.Mark{Label: device(*h.Run), Value: h.Comparison.Value, Tone: toneOf(h.Comparison.Direction)})
	}
	slices.SortStableFunc(fig.Boxes, func(a, b figure.Box) int { return cmp.Compare(len(b.Marks), len(a.Marks)) })
	return fig
}

// boxOf is what a comparison knows of its history.
func boxOf(c gate.Comparison) figure.Box {
	return figure.Box{N: c.N, Q1: c.Q1, Q3: c.Q3, Expected: c.Expected, Lower: c.Lower, Upper: c.Upper, Sample: c.Sample}
}

// span is how far the runs and what was expected of them lie apart.
func (f finding) span() float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, h := range f.Hits {
		c := h.Comparison
		low, high = min(low, c.Value, c.Q1, c.Expected), max(high, c.Value, c.Q3, c.Expected)
	}
	return high - low
}

// alike reports whether two histories would look the same on an axis: weights
// move quartiles a little from run to run.
func alike(a, b gate.Comparison, tolerance float64) bool {
	near := func(x, y float64) bool { return x == y || math.Abs(x-y) <= tolerance }
	return a.N == b.N && len(a.Sample) == len(b.Sample) && near(a.Q1, b.Q1) && near(a.Q3, b.Q3) &&
		near(a.Expected, b.Expected) && near(a.Lower, b.Lower) && near(a.Upper, b.Upper)
}

// graph draws rules.
func graph(rules []pattern) figure.Rules {
	var out []figure.Rule
	for _, p := range drawn(rules, figure.MaxRules) {
		conditions := items(p.Rule)
		out = append(out, figure.Rule{
			If: conditions[:min(len(conditions), maxItems)], Then: p.node(), Tone: p.tone(), Support: p.Support, Sentence: p.sentence(),
		})
	}
	return figure.NewRules(out, len(rules))
}

// barsOf are the energy of methods' own code.
func barsOf(m *hotspots.Methods) (figure.Bars, bool) {
	if m == nil {
		return figure.Bars{}, false
	}
	span := func(j hotspots.Joules) figure.Span { return figure.Span{Value: j.J, Low: j.LowJ, High: j.HighJ} }
	out := make([]figure.Bar, len(m.List))
	for i, method := range m.List {
		out[i] = figure.Bar{
			Name: method.Name, Base: span(method.Local.Base), Head: span(method.Local.Head),
			Tone: toneOf(direction(method)), Status: methodStatus(method),
		}
	}
	return figure.NewBars(out, m.HasBase(), figure.Measure{Unit: "J", Label: "Energy of methods", Of: "joules of the method's own code, per repetition"})
}

// flameOf is the energy by call.
func flameOf(m *hotspots.Methods) (figure.Flame, bool) {
	if m == nil {
		return figure.Flame{}, false
	}
	out := make([]figure.Call, len(m.Calls))
	for i, c := range m.Calls {
		out[i] = figure.Call{Parent: c.Parent, Name: c.Name, Kind: c.Kind, Base: c.BaseJ, Head: c.HeadJ}
	}
	return figure.NewFlame(out, m.HasBase(), figure.Measure{Unit: "J", Label: "Calls by energy", Of: "energy"})
}
