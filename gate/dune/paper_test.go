package dune_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/run"
)

// t6 is the paper's example of section 5.3.3.
func t6() (t6 run.Run, accepted []run.Run) {
	for i, m := range []map[string]float64{
		gatetest.Frames(448, 0.95, 45.3), gatetest.Frames(453, 0.94, 44.5), gatetest.Frames(450, 0.93, 44.9), gatetest.Frames(457, 0.80, 50.3), gatetest.Frames(430, 0.85, 45.7),
	} {
		accepted = append(accepted, gatetest.Run(fmt.Sprint("T", i+1), m))
	}
	return gatetest.Run("T6", gatetest.Frames(270, 0.40, 40.3)), accepted
}

func flagged(v gate.RunVerdict) []string {
	var out []string
	for _, d := range v.Deviations {
		if d.Direction == gate.ToRegression || d.Direction == gate.ToImprovement {
			out = append(out, string(d.Direction)+" "+d.Event+" "+d.Metric)
		}
	}
	slices.Sort(out)
	return out
}

func TestT6AsInThePaper(t *testing.T) {
	now, accepted := t6()
	v := checkOne(gatetest.Policy(t, gate.PresetDune), now, accepted...)
	if got, want := flagged(v), []string{"regression  frames.count"}; !slices.Equal(got, want) {
		t.Fatalf("flagged %q, want %q", got, want)
	}
	d := v.Deviations[0]
	for name, pair := range map[string][2]float64{"q1": {d.Q1, 390}, "q3": {d.Q3, 454}, "lower": {d.Lower, 294}, "upper": {d.Upper, 550}, "n": {float64(d.N), 6}} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, pair[0], pair[1])
		}
	}
	if v.Verdict != gate.Regression || !slices.Equal(v.Labels, []string{"Outlier-"}) {
		t.Errorf("verdict %s, labels %q", v.Verdict, v.Labels)
	}
}

// In the paper's own example a smooth ratio of 0.40 among 0.80 to 0.95 hides itself. By default it
// is a doubt where the five runs are of its context, which are too few to prove it; otherwise they
// are no reference, and it does not pass. The number of frames is not judged.
func TestT6ByDefault(t *testing.T) {
	now, accepted := t6()
	contexts := map[string]func(i int) map[string]string{
		"none":          func(int) map[string]string { return nil },
		"new SDK":       func(i int) map[string]string { return map[string]string{"sdk": []string{"4.4", "6.0"}[i/5]} },
		"all different": func(i int) map[string]string { return map[string]string{"model": fmt.Sprint(i), "cpu": "x86"} },
		"one like, four other": func(i int) map[string]string {
			return map[string]string{"model": fmt.Sprint(i % 5), "cpu": "x86"}
		},
	}
	for name, contextOf := range contexts {
		for i := range accepted {
			accepted[i].Context = contextOf(i)
		}
		now.Context = contextOf(5)
		v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, accepted...)
		doubted := slices.ContainsFunc(v.Deviations, func(c gate.Comparison) bool {
			return c.Metric == "frames.smooth_ratio" && c.Direction == gate.Suspect
		})
		if known := name != "all different"; v.Verdict != gate.Inconclusive || doubted != known {
			t.Errorf("context %s: %s, %s", name, v.Verdict, v.Reason)
		}
	}
}

func TestTable1(t *testing.T) {
	context := func(version, sdk, maker, model, network string) map[string]string {
		return map[string]string{"version": version, "sdk": sdk, "manufacturer": maker, "model": model, "cpu": "x86", "network": network}
	}
	same := gatetest.Frames(148, 0.95, 45)
	now := gatetest.In(gatetest.Run("T4", same), context("v1.2", "4.1", "lg", "G4", "wifi"))
	accepted := []run.Run{
		gatetest.In(gatetest.Run("T1", same), context("v1", "4.1", "samsung", "S3", "wifi")),
		gatetest.In(gatetest.Run("T2", same), context("v1", "4.2", "htc", "Evo", "3g")),
		gatetest.In(gatetest.Run("T3", same), context("v1", "4.3", "lg", "L3", "wifi")),
	}
	want := map[string]gate.Reference{
		"T1": {Similarity: 1.73, Weight: 0.39, Cluster: 1},
		"T2": {Similarity: 1, Weight: 0.22, Cluster: 2},
		"T3": {Similarity: 1.73, Weight: 0.39, Cluster: 1},
	}
	for _, preset := range gate.Presets() {
		v := checkOne(gatetest.Policy(t, preset), now, accepted...)
		for _, r := range v.Reference {
			w := want[r.ID]
			if math.Abs(r.Similarity-w.Similarity) > 0.005 || math.Abs(r.Weight-w.Weight) > 0.005 || r.Cluster != w.Cluster {
				t.Errorf("%s: %+v, want %+v", preset, r, w)
			}
		}
		if len(v.Reference) != 3 {
			t.Errorf("%s: %d references, want 3", preset, len(v.Reference))
		}
	}
}

// With four runs in the nearest cluster the preset dune can't flag anything, and says so; with five
// it can.
func TestSmallestUsefulCluster(t *testing.T) {
	_, accepted := t6()
	worst := gatetest.Run("worst", gatetest.Frames(1, 0, 1e6))
	for n, warned := range map[int]bool{4: true, 5: false} {
		v := checkOne(gatetest.Policy(t, gate.PresetDune), worst, accepted[:n]...)
		if (len(v.Warnings) == 1) != warned || (v.Verdict == gate.Pass) != warned {
			t.Errorf("%d runs: %s, warnings %v", n, v.Verdict, v.Warnings)
		}
	}
}

// Figure 4: the outlier is found at the event.
func TestFineGrained(t *testing.T) {
	bucket := func(name string, count float64) run.Bucket {
		return run.Bucket{Name: name, Metrics: map[string]float64{"frames.count": count, "frames.janky": 2}}
	}
	var accepted []run.Run
	for i, n := range []float64{448, 453, 450, 457, 430} {
		accepted = append(accepted, gatetest.Run(fmt.Sprint("T", i+1), nil, bucket("start", 50+n/100), bucket("E1", 100+n/50), bucket("E2", n), bucket("E3", 300+n/50)))
	}
	now := gatetest.Run("T6", nil, bucket("start", 54), bucket("E1", 109), bucket("E2", 270), bucket("E3", 309))
	for preset, want := range map[string]gate.Direction{gate.PresetDune: gate.ToRegression, gate.PresetDefault: gate.Suspect} {
		p := gatetest.Judging(t, preset, "frames.count", "frames.janky")
		p.Grain = gate.Fine
		v := checkOne(p, now, accepted...)
		if len(v.Deviations) != 1 || v.Deviations[0].Event != "E2" || v.Deviations[0].Direction != want {
			t.Errorf("%s: %+v, want a %s at E2", preset, v.Deviations, want)
		}
	}
}

// Experiment C in small: compared with bad runs, a good one is an optimization.
func TestImprovement(t *testing.T) {
	var accepted []run.Run
	for i, n := range []float64{176, 180, 171, 174, 178, 175} {
		accepted = append(accepted, gatetest.Run(fmt.Sprint(i), gatetest.Frames(n, 0.2+n/10000, 144+n/100)))
	}
	for _, preset := range gate.Presets() {
		v := checkOne(gatetest.Policy(t, preset), gatetest.Run("good", gatetest.Frames(2145, 0.99, 8)), accepted...)
		if v.Verdict != gate.Improvement || !slices.Equal(v.Labels, []string{"Outlier+"}) {
			t.Errorf("%s: %s %q", preset, v.Verdict, v.Labels)
		}
	}
}
