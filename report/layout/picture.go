package layout

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/run"
)

// The maximum number of figures of each kind.
const (
	maxHistories = 16
	maxFrames    = 8
)

// historySection shows findings together with the history.
func historySection(findings []finding) document.Section {
	first, rest := short(flat(findings))
	all := slices.DeleteFunc(slices.Concat(first, rest), func(f finding) bool { return f.middle().N == 0 })
	g := &document.Gallery{Noun: document.Noun{One: "picture", Many: "pictures"}, Rooms: document.Rooms{Page: document.Room{Open: 6}}}
	for i, f := range all[:min(len(all), maxHistories)] {
		fig := f.history()
		caption := fig.Title
		if f.AfterEffectOf != "" {
			caption += " (" + f.status() + ")"
		}
		g.Figures = append(g.Figures, document.Figure{ID: fmt.Sprintf("h%d", i), Caption: caption, Of: f.key(), Picture: fig})
	}
	if n := len(all) - len(g.Figures); n > 0 {
		g.Rest = "And " + prose.Count(n, "more deviation without a picture", "more deviations without a picture") + "; the JSON report has everything."
	}
	return document.Section{
		ID: "history", Title: document.Everywhere("Against the history"), Body: g,
		Guide: "Box: the middle half of the accepted runs of this context. Thick line: expected. Whiskers: the furthest runs within the fences (dotted). Dots: all accepted runs, those of other contexts too. Diamonds: the checked runs. Runs share a box where their histories look the same.",
	}
}

// framesSection draws the checked runs that kept their frames, deviating ones first.
func framesSection(in Input) document.Section {
	byID := map[string]run.Run{}
	for _, r := range in.Runs {
		byID[r.ID] = r
	}
	g := &document.Gallery{Noun: document.Noun{One: "run", Many: "runs"}, Rooms: document.Rooms{Page: document.Room{Open: 2}}}
	total := 0
	for _, i := range gravestFirst(in.Verdict.Runs) {
		v := in.Verdict.Runs[i]
		fig, ok := figure.NewFrames(runTitle(v, in.Verdict), byID[v.ID], flaggedEvents(v))
		if !ok {
			continue
		}
		if total++; total <= maxFrames {
			g.Figures = append(g.Figures, document.Figure{ID: fmt.Sprintf("f%d", total), Caption: fig.Title, Detail: fig.Description(), Picture: fig})
		}
	}
	if n := total - len(g.Figures); n > 0 {
		g.Rest = "The frames of " + prose.Count(n, "more run", "more runs") + " are not drawn."
	}
	return document.Section{
		ID: "frames", Title: document.Everywhere("Frame by frame"), Body: g,
		Guide: "Each bar is a frame; its height is the time it took. Frames above the dashed line take longer than one refresh of the screen (60 a second where the run has no rate). Bars that end in a wedge are cut off at the top. Under each UI event: frames above the line of all frames.",
	}
}

func flaggedEvents(v gate.RunVerdict) map[string]bool {
	out := map[string]bool{}
	for _, c := range v.Deviations {
		if c.Event != "" && c.AfterEffectOf == "" && (c.Direction == gate.ToRegression || c.Direction == gate.Suspect) {
			out[c.Event] = true
		}
	}
	return out
}

// history draws a finding's runs below one box where their histories look the same.
func (f finding) history() figure.History {
	fig := figure.History{Metric: f.Metric, Title: f.what()}
	tolerance := 0.02 * f.span()
	var drawn []gate.Comparison // of each box, the first
	for _, h := range f.Hits {
		i := slices.IndexFunc(drawn, func(c gate.Comparison) bool { return alike(c, h.Comparison, tolerance) })
		if i < 0 && len(drawn) < 64 { // beyond what is drawn, the first box is used
			i = len(drawn)
			drawn = append(drawn, h.Comparison)
			fig.Boxes = append(fig.Boxes, boxOf(h.Comparison))
		}
		box := &fig.Boxes[max(i, 0)]
		box.Marks = append(box.Marks, figure.Mark{Label: device(*h.Run), Value: h.Comparison.Value, Tone: causes.ToneOf(h.Comparison.Direction)})
	}
	slices.SortStableFunc(fig.Boxes, func(a, b figure.Box) int { return cmp.Compare(len(b.Marks), len(a.Marks)) })
	return fig
}

// boxOf returns the history of a comparison as a box.
func boxOf(c gate.Comparison) figure.Box {
	return figure.Box{N: c.N, Q1: c.Q1, Q3: c.Q3, Expected: c.Expected, Lower: c.Lower, Upper: c.Upper, Sample: c.Sample}
}

// span returns how far the runs and their expected values lie apart.
func (f finding) span() float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, h := range f.Hits {
		c := h.Comparison
		low, high = min(low, c.Value, c.Q1, c.Expected), max(high, c.Value, c.Q3, c.Expected)
	}
	return high - low
}

// alike reports whether two histories would look the same on an axis: weights shift quartiles a
// little from run to run.
func alike(a, b gate.Comparison, tolerance float64) bool {
	near := func(x, y float64) bool { return x == y || math.Abs(x-y) <= tolerance }
	return a.N == b.N && len(a.Sample) == len(b.Sample) && near(a.Q1, b.Q1) && near(a.Q3, b.Q3) &&
		near(a.Expected, b.Expected) && near(a.Lower, b.Lower) && near(a.Upper, b.Upper)
}

// graph returns the figure of rules.
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
