package experiments

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// A reading is a method of judging: a preset with changes.
type reading struct {
	name, preset string
	change       func(*gate.Policy)
}

// The readings of docs/evaluation/papers.md, in the order of its columns. The last two use the
// nearest cluster by the letter of the paper: by every property of the context, and by the network
// alone, with rules of every property.
var readings = []reading{
	{"default", gate.PresetDefault, func(p *gate.Policy) { p.Budget.Alone = true }}, // without a base build
	{"dune", gate.PresetDune, func(*gate.Policy) {}},
	{"dune, literal", gate.PresetDune, func(p *gate.Policy) { p.Cluster = gate.ClusterLiteral }},
	{"dune, literal, by the network", gate.PresetDune, func(p *gate.Policy) {
		p.Cluster, p.Use = gate.ClusterLiteral, []string{"network"}
		p.RuleUse = []string{"sdk", "api", "manufacturer", "model", "cpu", "screen", "network"}
	}},
}

func coarse(p *gate.Policy) { p.Grain = gate.Coarse }

func bothGrains(p *gate.Policy) { p.Grain = gate.Both }

// atSupport sets the least support of a rule.
func atSupport(least float64) func(*gate.Policy) {
	return func(p *gate.Policy) { p.MinSupport, p.SupportOfAll = least, true }
}

// rulesOf returns the rules as "sdk=5.0.0 => Outlier-", sorted, with rules of the same runs listed
// separately.
func rulesOf(v gate.Verdict) []string {
	var out []string
	for _, r := range v.Rules {
		var items []string
		for _, k := range slices.Sorted(maps.Keys(r.If)) {
			items = append(items, k+"="+r.If[k])
		}
		out = append(out, strings.Join(items, ",")+" => "+r.Then)
		for k, v := range r.Same {
			out = append(out, k+"="+v+" => "+r.Then)
		}
	}
	slices.Sort(out)
	return out
}

// measured is an app before and after.
type measured struct {
	subject
	history, upgraded session
}

// Experiments A to C.
func TestExperimentsAToC(t *testing.T) {
	apps := measuredApps(t)
	var a, b string
	if !testing.Short() {
		a, b = besideBaseAAndB(t, apps)
	}
	t.Run("A", func(t *testing.T) { experimentA(t, apps, a) })
	t.Run("B", func(t *testing.T) { experimentB(t, apps, b) })
	t.Run("C", func(t *testing.T) { experimentC(t, apps) })
	if everything() {
		besideTheSameBuild(t, apps)
	}
}

// A: each of the degraded runs is flagged; ten of ten over both apps. To the letter none is: the
// nearest cluster is the one or two runs of the same model. By default all are: they lie beyond
// what similar phones predict for an Android without accepted runs.
func experimentA(t *testing.T, apps []measured, besideBase string) {
	want := map[string]int{"default": 10, "dune": 10, "dune, literal": 0, "dune, literal, by the network": 10}
	row := "| A: degraded runs flagged | 10 of 10 |"
	for _, by := range readings {
		flagged := 0
		for _, app := range apps {
			for _, r := range check(t, by, app.upgraded.runs(), app.history.runs(), coarse).Runs {
				if r.Verdict == gate.Regression && r.Labels[0] == gate.LabelWorse {
					flagged++
				}
			}
		}
		if flagged != want[by.name] {
			t.Errorf("%s: flags %d of 10, want %d", by.name, flagged, want[by.name])
		}
		row += fmt.Sprintf(" %d of 10 |", flagged)
	}
	documented(t, row+besideBase, 0)
}

// rulesAt returns the paper's rules by their least support.
func rulesAt(support float64) []string {
	two := []string{"api=21 => Outlier-", "api=22 => Outlier-", "sdk=5.0.0 => Outlier-", "sdk=5.1.0 => Outlier-"}
	one := []string{"api=23 => Outlier-", "model=Nexus 5X => Outlier-", "sdk=6.0.0 => Outlier-"}
	switch support {
	case 0.01:
		return slices.Sorted(slices.Values(slices.Concat(two, one)))
	case 0.03:
		return two
	}
	return nil
}

// B: exactly the paper's seven rules at support 0.01, those of Android 6.0.0
// gone at 0.03, and none at 0.07. (Of the paper's five at 0.03 one can't be: see
// docs/design/paper.md.)
func experimentB(t *testing.T, apps []measured, besideBase string) {
	row := "| B: context rules at support 0.01 / 0.03 / 0.07 | 7 / 5 / 0 |"
	for _, by := range readings {
		var counts []string
		for _, support := range []float64{0.01, 0.03, 0.07} {
			for _, app := range apps {
				v, rules := check(t, by, app.upgraded.runs(), app.history.runs(), coarse, atSupport(support)), rulesAt(support)
				if by.name == "dune, literal" { // nothing is flagged
					rules = nil
				}
				if got := rulesOf(v); !slices.Equal(got, rules) {
					t.Errorf("%s, %s at support %g: %q, want %q", by.name, app.app, support, got, rules)
				}
				for _, r := range v.Rules {
					if r.Confidence != 1 {
						t.Errorf("%s: %v has confidence %g, want 1", by.name, r.If, r.Confidence)
					}
				}
				if app.app == blaster.app {
					counts = append(counts, fmt.Sprint(len(rulesOf(v))))
				}
			}
		}
		row += " " + strings.Join(counts, " / ") + " |"
	}
	documented(t, row+besideBase, 0)
}

// C: compared with the degraded runs, a run of the history is an optimization. The paper swaps one
// run; here each of the forty takes its turn.
func experimentC(t *testing.T, apps []measured) {
	for _, app := range apps {
		row := "| C: swapped runs that are optimizations, " + app.app + " | 1 of 1 |"
		for _, by := range readings {
			outcomes := map[gate.Outcome]int{}
			for _, swapped := range app.history.runs() {
				outcomes[check(t, by, []run.Run{swapped}, app.upgraded.runs(), coarse).Verdict]++
			}
			t.Logf("%s, %s: %v", app.app, by.name, outcomes)
			row += fmt.Sprintf(" %d of 40 |", outcomes[gate.Improvement])
			if by.name == "default" && outcomes[gate.Inconclusive] != len(app.history) {
				t.Errorf("%s: %v, want doubts: no run was accepted on their Android", app.app, outcomes)
			}
		}
		if !testing.Short() {
			row += besideBaseC(t, app)
		}
		documented(t, row, loosely(2))
	}
}

// mutatedEvents are the events after which the mutated ExoPlayer computes too long (section 8.4):
// the 3rd, 7th, 16th and 17th of 20.
var mutatedEvents = []string{"logging", "touch-screen", "logging-second", "touch-second"}

// D: the janks injected after four of twenty events, on 15 phones drawn from
// the device lab. The paper reaches a precision of 0.53 and a recall of 0.83 (the rows
// of its table 3 come to 0.85).
func TestExperimentD(t *testing.T) {
	m := measuredMutation(t)
	history, runs := m.history, m.head.runs()
	precisions, recalls := "| D: precision of the events flagged | 0.53 |", "| D: recall of the events flagged | 0.83 |"
	for _, by := range readings {
		precision, recall := score(check(t, by, runs, history, bothGrains))
		if by.name == "dune, literal" && recall != 0 {
			t.Errorf("%s: recall %.2f, want none: nothing can be flagged", by.name, recall)
		}
		if by.name == "default" && recall != 0 {
			t.Errorf("by default: recall %.2f, want none: one accepted run is no history", recall)
		}
		if strings.HasPrefix(by.name, "dune") && by.name != "dune, literal" && (precision <= 0.53 || recall <= 0.85) {
			t.Errorf("%s: precision %.2f and recall %.2f, want more than the paper's 0.53 and 0.85", by.name, precision, recall)
		}
		precisions, recalls = precisions+cell(precision, recall > 0), recalls+fmt.Sprintf(" %.2f |", recall)
	}
	beside := pull{subject: mutated, base: build(t, player), head: build(t, mutated), phones: m.phones, network: "wifi", measured: m.head}
	precision, recall := score(beside.besideBase(t, history, bothGrains))
	if recall != 0 {
		t.Errorf("beside the base: recall %.2f, want none: a round takes 3.6 of 45 minutes", recall)
	}
	one := beside
	one.phones, one.measured = beside.phones[:1], beside.measured[:1]
	if r := one.besideBase(t, history, bothGrains).Runs[0]; r.Verdict != gate.Inconclusive || r.Rounds == nil || r.Rounds.Measured != 0 {
		t.Errorf("a phone by itself: %s after %+v, want a doubt and no rounds", r.Verdict, r.Rounds)
	}
	documented(t, precisions+cell(precision, recall > 0), loosely(0.06))
	documented(t, recalls+fmt.Sprintf(" %.2f |", recall), loosely(0.06))
	unchanged := measure(t, player, m.phones[:5], repetitions(10), 300, "wifi")
	if v := check(t, readings[0], unchanged, history, bothGrains); v.Verdict == gate.Regression {
		t.Errorf("the unchanged build is called a regression: %s", worst(v))
	}
}

// D by default, where each phone has a history of its own, as the gate requires: phones with six
// accepted sessions each, all of which get the mutated build.
func TestExperimentDWithAHistoryOfEachPhone(t *testing.T) {
	s := measuredSessions(t)
	v := check(t, readings[0], s.mutated.runs(), s.before(), bothGrains)
	precision, recall := score(v)
	documented(t, fmt.Sprintf("| five phones with six accepted sessions each, default | %.2f / %.2f |", precision, recall), loosely(0.1))
	if recall < 0.9 {
		t.Errorf("recall %.2f, want nearly all", recall)
	}
	unchanged := check(t, readings[0], s.unchanged.runs(), s.before(), bothGrains)
	if unchanged.Verdict == gate.Regression {
		t.Errorf("the unchanged build is called a regression: %s", worst(unchanged))
	}
	t.Logf("mutated: %s, precision %.2f, recall %.2f; unchanged: %s", v.Verdict, precision, recall, unchanged.Verdict)
}

// cell returns a precision as in the table: undefined where nothing was flagged.
func cell(precision float64, flagged bool) string {
	if !flagged {
		return " nothing flagged |"
	}
	return fmt.Sprintf(" %.2f |", precision)
}

// D again, over the length of the jank and of what the app has not recovered from: the
// paper gives neither, and the 420 ms and 35 % of the simulated app are ours.
func TestExperimentDOverTheLengthOfTheJank(t *testing.T) {
	if testing.Short() {
		t.Skip("builds on fifteen phones")
	}
	m := measuredMutation(t)
	history := m.history
	if nightly() {
		history = measure(t, player, lab(t, "device-lab"), 3, 1, "wifi", "3g")
	}
	for _, c := range []struct {
		jank, recovery string
		byDay          bool
	}{{"420", "35", false}, {"420", "60", true}, {"150", "35", false}, {"80", "35", false}, {"30", "35", true}} {
		if !c.byDay && !nightly() {
			continue
		}
		text := strings.Replace(build(t, mutated), "jank 420ms ", "jank "+c.jank+"ms ", 1)
		text = strings.Replace(text, "recover 35%", "recover "+c.recovery+"%", 1)
		runs := measureBuild(t, mutated, text, m.phones, 3, 200, "wifi")
		row := fmt.Sprintf("| %s ms, %s %% |", c.jank, c.recovery)
		for _, by := range readings {
			if by.name == "dune, literal" || by.name == "default" { // flag nothing
				continue
			}
			precision, recall := score(check(t, by, runs, history, bothGrains))
			row += fmt.Sprintf(" %.2f / %.2f |", precision, recall)
		}
		documented(t, row, 0.15)
	}
}

// score averages the precision and recall of the runs as the paper does: a run in which nothing is
// flagged has a precision of 1 and a recall of 0.
func score(v gate.Verdict) (precision, recall float64) {
	for _, r := range v.Runs {
		right, wrong := 0, 0
		for _, label := range r.Labels {
			event, worse := strings.CutSuffix(label, gate.LabelWorse)
			switch {
			case !worse || event == "":
			case slices.Contains(mutatedEvents, event):
				right++
			default:
				wrong++
			}
		}
		p := 1.0
		if right+wrong > 0 {
			p = float64(right) / float64(right+wrong)
		}
		precision += p / float64(len(v.Runs))
		recall += float64(right) / float64(len(mutatedEvents)) / float64(len(v.Runs))
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
