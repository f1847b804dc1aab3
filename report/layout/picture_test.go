package layout

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
)

func TestFramesMarkCutBars(t *testing.T) {
	in := regression()
	v := in.Verdict.Runs[0]
	fig, ok := figure.NewFrames(device(v), in.Runs[0], flaggedEvents(v))
	if !ok || v.ID != in.Runs[0].ID {
		t.Fatalf("no picture of %s with the frames of %s", v.ID, in.Runs[0].ID)
	}
	svg := fig.Draw("p", "wide", 800)
	if !strings.Contains(svg, `class="wedge"`) {
		t.Error("frames longer than the picture is tall are not marked")
	}
	for _, want := range []string{"▼ E2", "23 of 68", "16.67 ms", "Frames of Google Nexus 9 (Android 5.0.0)"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if err := wellFormed(svg); err != nil {
		t.Error(err)
	}
}

func TestRuleGraph(t *testing.T) {
	svg := graph(patterns(regression().Verdict.Rules)).Draw("p", "wide", 600)
	if n := strings.Count(svg, "<circle"); n != 7 {
		t.Errorf("%d circles, want one for each of 7 rules", n)
	}
	radii := map[string]int{}
	for _, m := range regexp.MustCompile(` r="([\d.]+)"`).FindAllStringSubmatch(svg, -1) {
		radii[m[1]]++
	}
	// The area is proportional to the support: half the support, 1/√2 of the radius.
	if radii["10"] != 4 || radii["7.1"] != 3 {
		t.Errorf("radii %v, want four of 10 and three of 7.1", radii)
	}
}

// Two histories share a box where all that is drawn of them lies within the tolerance, which near
// stays within and far does not.
func TestAlike(t *testing.T) {
	base := gate.Comparison{N: 3, Sample: []float64{1, 2, 3}, Q1: 1, Q3: 3, Expected: 2, Lower: 0, Upper: 4}
	if !alike(base, base, 0) {
		t.Error("a history is not like itself")
	}
	for name, change := range map[string]func(c *gate.Comparison, by float64){
		"the lower quartile": func(c *gate.Comparison, by float64) { c.Q1 += by },
		"the upper quartile": func(c *gate.Comparison, by float64) { c.Q3 += by },
		"what is expected":   func(c *gate.Comparison, by float64) { c.Expected += by },
		"the lower fence":    func(c *gate.Comparison, by float64) { c.Lower += by },
		"the upper fence":    func(c *gate.Comparison, by float64) { c.Upper += by },
	} {
		near, far := base, base
		change(&near, 0.1)
		change(&far, 0.3)
		if !alike(base, near, 0.2) || alike(base, far, 0.2) {
			t.Errorf("%s: 0.1 off is alike: %t, 0.3 off: %t", name, alike(base, near, 0.2), alike(base, far, 0.2))
		}
	}
	more, larger := base, base
	more.N, larger.Sample = 4, []float64{1, 2, 3, 4}
	if alike(base, more, 0.2) || alike(base, larger, 0.2) {
		t.Error("histories of other sizes are alike")
	}
}

// Sixteen findings are drawn and the rest counted; one without accepted runs has no figure, and an
// after-effect names its cause.
func TestHistoryFigures(t *testing.T) {
	of := func(n int) []finding {
		var cs []gate.Comparison
		for i := range n {
			cs = append(cs, compared(fmt.Sprint("E", i), ms, 10, 1, 20, gate.ToRegression))
		}
		first := compared("", "cpu.time_ms", 0, 0, 20, gate.ToRegression)
		first.N = 0
		return findings(gate.Verdict{Runs: []gate.RunVerdict{runVerdict("R", gate.Regression, upgraded[0], append(cs, first)...)}}, metric.Default())
	}
	for n, rest := range map[int]string{
		16: "", 17: "And 1 more deviation without a picture; the JSON report has everything.", 18: "And 2 more deviations without a picture; the JSON report has everything.",
	} {
		g := historySection(of(n)).Body.(*document.Gallery)
		if len(g.Figures) != 16 || g.Rest != rest {
			t.Errorf("of %d findings %d are drawn, and it says %q, want 16 and %q", n, len(g.Figures), g.Rest, rest)
		}
	}
	cause, effect := compared("E1", ms, 10, 1, 20, gate.ToRegression), compared("E2", ms, 10, 1, 20, gate.ToRegression)
	effect.AfterEffectOf = "E1"
	v := gate.Verdict{Runs: []gate.RunVerdict{runVerdict("R", gate.Regression, upgraded[0], cause, effect)}}
	g := historySection(findings(v, metric.Default())).Body.(*document.Gallery)
	if g.Figures[0].Caption != "E1: time per frame" || g.Figures[1].Caption != "E2: time per frame (after-effect of E1)" {
		t.Errorf("the captions are %q and %q", g.Figures[0].Caption, g.Figures[1].Caption)
	}
}

// The frames of eight runs are drawn, deviating ones first, and the others are counted; a run that
// kept no frames is skipped.
func TestFrameFigures(t *testing.T) {
	for n, rest := range map[int]string{8: "", 9: "The frames of 1 more run are not drawn.", 10: "The frames of 2 more runs are not drawn."} {
		var in Input
		for i := range n {
			id := fmt.Sprint("run-", i)
			in.Verdict.Runs = append(in.Verdict.Runs, gate.RunVerdict{ID: id, Verdict: gate.Pass})
			in.Runs = append(in.Runs, framesRun(id, nil, 60))
		}
		in.Verdict.Runs[n-1].Verdict = gate.Regression
		in.Verdict.Runs = append(in.Verdict.Runs, gate.RunVerdict{ID: "without frames", Verdict: gate.Regression})
		g := framesSection(in).Body.(*document.Gallery)
		if len(g.Figures) != 8 || g.Rest != rest || !strings.Contains(g.Figures[0].Caption, fmt.Sprint("run-", n-1)) {
			t.Errorf("of %d runs %d are drawn, %q first, and it says %q, want %q", n, len(g.Figures), g.Figures[0].Caption, g.Rest, rest)
		}
	}
}

// An event is marked that is worse or a suspect, and not one that is better, an after-effect, or
// the whole run.
func TestFrameFiguresMarkFlaggedEvents(t *testing.T) {
	after := compared("after", ms, 10, 1, 20, gate.ToRegression)
	after.AfterEffectOf = "worse"
	got := flaggedEvents(gate.RunVerdict{Deviations: []gate.Comparison{
		after, compared("", ms, 10, 1, 20, gate.ToRegression), compared("worse", ms, 10, 1, 20, gate.ToRegression),
		compared("suspect", ms, 10, 1, 20, gate.Suspect), compared("better", ms, 10, 1, 5, gate.ToImprovement),
	}})
	if want := map[string]bool{"worse": true, "suspect": true}; !maps.Equal(got, want) {
		t.Errorf("marked are %v, want %v", got, want)
	}
}
