package experiments

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// repetitions of a scenario: so many where the numbers are documented, fewer with -short.
func repetitions(documented int) int {
	if testing.Short() {
		return 3
	}
	return documented
}

func coarse(p *gate.Policy) { p.Grain = gate.Coarse }

// atSupport sets the least support of a rule.
func atSupport(least float64) func(*gate.Policy) {
	return func(p *gate.Policy) { p.MinSupport, p.SupportOfAll = least, true }
}

// rulesOf are the rules as "sdk=5.0.0 => Outlier-", sorted.
func rulesOf(v gate.Verdict) []string {
	var out []string
	for _, r := range v.Rules {
		var items []string
		for _, k := range slices.Sorted(maps.Keys(r.If)) {
			items = append(items, k+"="+r.If[k])
		}
		out = append(out, strings.Join(items, ",")+" => "+r.Then)
	}
	slices.Sort(out)
	return out
}

// Experiments A to C (sections 8.1 to 8.3): both apps are slow on Android 5 and
// later, a history of 20 phones × 2 networks on Android 4, five upgraded phones.
func TestExperimentsAToC(t *testing.T) {
	for _, s := range []subject{k9, blaster} {
		history := measure(t, s, lab(t, "device-lab"), repetitions(5), 1, "wifi", "3g")
		upgraded := measure(t, s, lab(t, "upgraded-lab"), repetitions(5), 100, "wifi")
		t.Run("A "+s.app, func(t *testing.T) { experimentA(t, upgraded, history) })
		t.Run("B "+s.app, func(t *testing.T) { experimentB(t, upgraded, history) })
		t.Run("C "+s.app, func(t *testing.T) { experimentC(t, upgraded, history) })
	}
}

// A: each of the degraded runs is flagged; ten of ten over both apps.
func experimentA(t *testing.T, upgraded, history []run.Run) {
	v := check(t, gate.PresetDefault, upgraded, history)
	if len(v.Runs) != 5 || len(history) != 40 {
		t.Fatalf("%d runs against %d, want 5 against 40", len(v.Runs), len(history))
	}
	for _, r := range v.Runs {
		if r.Verdict != gate.Regression || r.Labels[0] != gate.LabelWorse {
			t.Errorf("%s on Android %s: %s, want a regression: %s", r.Context["model"], r.Context["sdk"], r.Verdict, r.Reason)
		}
	}
	for name, change := range duneVariants {
		flagged := 0
		for _, r := range check(t, gate.PresetDune, upgraded, history, coarse, change).Runs {
			if r.Verdict == gate.Regression {
				flagged++
			}
		}
		t.Logf("preset dune, %s: flags %d of 5", name, flagged)
	}
}

// duneVariants are two readings of the paper's nearest cluster. With every
// property it is here one or two runs, too few for its fences to flag
// anything; the paper's figures 4 and 8 show larger ones.
var duneVariants = map[string]func(*gate.Policy){
	"every context property":   func(*gate.Policy) {},
	"the same network is like": func(p *gate.Policy) { p.Use = []string{"network"} },
}

// B: exactly the paper's seven rules at support 0.01, those of Android 6.0.0
// gone at 0.03, and none at 0.07. (Of the paper's five at 0.03 one can't be: see
// docs/design.md.)
func experimentB(t *testing.T, upgraded, history []run.Run) {
	two := []string{"api=21 => Outlier-", "api=22 => Outlier-", "sdk=5.0.0 => Outlier-", "sdk=5.1.0 => Outlier-"}
	one := []string{"api=23 => Outlier-", "model=Nexus 5X => Outlier-", "sdk=6.0.0 => Outlier-"}
	seven := slices.Sorted(slices.Values(slices.Concat(two, one)))
	for support, want := range map[float64][]string{0.01: seven, 0.03: two, 0.07: nil} {
		v := check(t, gate.PresetDefault, upgraded, history, coarse, atSupport(support))
		if got := rulesOf(v); !slices.Equal(got, want) {
			t.Errorf("at support %g: %q, want %q", support, got, want)
		}
		for _, r := range v.Rules {
			if r.Confidence != 1 {
				t.Errorf("%v has confidence %g, want 1", r.If, r.Confidence)
			}
		}
	}
}

// C: against the degraded runs, one of the history is an optimization.
func experimentC(t *testing.T, upgraded, history []run.Run) {
	rng := rand.New(rand.NewPCG(8, 3))
	swapped := history[rng.IntN(len(history))]
	v := check(t, gate.PresetDefault, []run.Run{swapped}, upgraded, coarse)
	if v.Verdict != gate.Improvement || !slices.Equal(v.Runs[0].Labels, []string{gate.LabelBetter}) {
		t.Errorf("%s %q, want an improvement labelled Outlier+: %s", v.Verdict, v.Runs[0].Labels, v.Runs[0].Reason)
	}
}

// janks are the events after which the mutated ExoPlayer computes too long
// (section 8.4): the 3rd, 7th, 16th and 17th of 20.
var janks = []string{"logging", "touch-screen", "logging-second", "touch-second"}

// D: the janks injected after four of twenty events, on 15 phones drawn from
// the device lab. The paper reaches a precision of 0.53 and a recall of 0.83.
func TestExperimentD(t *testing.T) {
	phones := lab(t, "device-lab")
	history := measure(t, player, phones, repetitions(10), 1, "wifi", "3g")
	rng := rand.New(rand.NewPCG(8, 4))
	rng.Shuffle(len(phones), func(i, j int) { phones[i], phones[j] = phones[j], phones[i] })
	runs := measure(t, mutated, phones[:15], repetitions(10), 200, "wifi")
	precision, recall := score(t, check(t, gate.PresetDefault, runs, history))
	t.Logf("preset default: precision %.2f, recall %.2f (paper: 0.53, 0.83)", precision, recall)
	if math.Abs(precision-0.93) > 0.03 {
		t.Errorf("precision %.2f, where docs/evaluation.md has 0.93", precision)
	}
	if precision <= 0.53 || recall <= 0.83 {
		t.Errorf("precision %.2f and recall %.2f, want more than the paper's 0.53 and 0.83", precision, recall)
	}
	// docs/evaluation.md; where nothing is flagged, nothing is flagged wrongly.
	documented := map[string]struct{ precision, recall float64 }{
		"every context property":   {1, 0},
		"the same network is like": {0.63, 1},
	}
	for name, change := range duneVariants {
		precision, recall := score(t, check(t, gate.PresetDune, runs, history, change))
		t.Logf("preset dune, %s: precision %.2f, recall %.2f", name, precision, recall)
		if want := documented[name]; math.Abs(precision-want.precision) > 0.03 || math.Abs(recall-want.recall) > 0.03 {
			t.Errorf("preset dune, %s: precision %.2f and recall %.2f, where docs/evaluation.md has %+v", name, precision, recall, want)
		}
	}
	unchanged := measure(t, player, phones[:5], repetitions(10), 300, "wifi")
	if v := check(t, gate.PresetDefault, unchanged, history); v.Verdict == gate.Regression {
		t.Errorf("the unchanged build is called a regression: %s", worst(v))
	}
}

// score averages the precision and recall of the runs as the paper does: a run
// in which nothing is flagged has a precision of 1 and a recall of 0.
func score(t *testing.T, v gate.Verdict) (precision, recall float64) {
	for _, r := range v.Runs {
		right, wrong := 0, []string{}
		for _, label := range r.Labels {
			event, worse := strings.CutSuffix(label, gate.LabelWorse)
			switch {
			case !worse || event == "":
			case slices.Contains(janks, event):
				right++
			default:
				wrong = append(wrong, event)
			}
		}
		p := 1.0
		if right+len(wrong) > 0 {
			p = float64(right) / float64(right+len(wrong))
		}
		precision += p / float64(len(v.Runs))
		recall += float64(right) / float64(len(janks)) / float64(len(v.Runs))
		t.Logf("  %s, %s: %d of 4 janks; others: %s", v.Preset, r.Context["model"], right, strings.Join(wrong, ", "))
	}
	return precision, recall
}

func worst(v gate.Verdict) string {
	for _, r := range v.Runs {
		if r.Verdict == gate.Regression {
			return fmt.Sprintf("%s: %s", r.Context["model"], r.Reason)
		}
	}
	return ""
}
