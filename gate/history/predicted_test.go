package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// newAndroid is a lab of phones with nights of accepted runs each on one Android, and the same
// phones on the next, where frames take slow times as long.
type newAndroid struct {
	phones, nights int
	slower         float64
	own            float64 // effect of the new Android on each phone, as a logarithm
}

func (l newAndroid) check(t *testing.T, random *rand.Rand) gate.Verdict {
	t.Helper()
	p := gatetest.Policy(t, gate.PresetDefault)
	var before, now []run.Run
	for i := range l.phones {
		level := 8 * math.Exp(0.3*random.NormFloat64())
		at := func(id, sdk string, level float64) run.Run {
			level *= math.Exp(0.03 * random.NormFloat64())
			r := gatetest.Timed(id, map[string]string{"model": fmt.Sprint("phone", i), "sdk": sdk}, level)
			r.Session = id
			return r
		}
		for n := range l.nights {
			r := at(fmt.Sprint("old", i, "-", n), "15", level)
			r.Started = time.Date(2026, 1, 1+n, i%24, 0, 0, 0, time.UTC)
			before = append(before, r)
		}
		now = append(now, at(fmt.Sprint("new", i), "16", level*l.slower*math.Exp(l.own*random.NormFloat64())))
	}
	refs := gatetest.Summaries(p, before...)
	var subjects []Subject
	for _, r := range now {
		subjects = append(subjects, Subject{Run: r, References: refs})
	}
	return Check(p, metric.Default(), subjects)
}

// Forty phones that are three times as slow on a new Android, compared with nine hundred accepted
// runs on the one before, are a regression each, and the verdict names the runs behind it.
func TestNewAndroidThreeTimesSlower(t *testing.T) {
	v := newAndroid{phones: 40, nights: 23, slower: 3, own: 0.05}.check(t, rand.New(rand.NewPCG(1, 7)))
	worse := 0
	for _, r := range v.Runs {
		if r.Verdict == gate.Regression {
			worse++
		}
	}
	if v.Verdict != gate.Regression || worse != 40 {
		t.Errorf("%s, %d of 40 regressions: %s", v.Verdict, worse, v.Runs[0].Reason)
	}
	if reason := v.Runs[0].Reason; !strings.Contains(reason, "predict, which differ in sdk") || !strings.Contains(reason, "no accepted run of this context yet") {
		t.Errorf("reason %q", reason)
	}
}

// The effect of a new Android on an unchanged build is no regression: at most one check of a
// hundred fails, where the truth is drawn as it was measured. Forty phones share one draw, and are
// not forty proofs.
func TestUnchangedBuildOnNewAndroid(t *testing.T) {
	checks := 200
	if testing.Short() {
		checks = 40
	}
	for _, phones := range []int{1, 8} {
		random := rand.New(rand.NewPCG(2, uint64(phones)))
		failed := 0
		for range checks {
			v := newAndroid{phones: phones, nights: 6, slower: math.Exp(0.15 * random.NormFloat64()), own: 0.03}.check(t, random)
			if v.Verdict == gate.Regression {
				failed++
			}
			if v.Verdict == gate.Pass {
				t.Errorf("%d phones: passes, of which nothing was ever measured", phones)
			}
		}
		if most := 0.01*float64(checks) + 2.5*math.Sqrt(0.01*0.99*float64(checks)); float64(failed) > most {
			t.Errorf("%d phones: %d of %d unchanged builds fail, want at most 1 %%", phones, failed, checks)
		}
		t.Logf("%d phones: %d of %d unchanged builds fail", phones, failed, checks)
	}
}

// A change within the effect of a new Android stays undecided, and that effect is reported; one
// near its edge is a doubt.
func TestChangeWithinEffectOfNewAndroid(t *testing.T) {
	v := newAndroid{phones: 5, nights: 9, slower: 1.15, own: 0.01}.check(t, rand.New(rand.NewPCG(3, 7)))
	if v.Verdict != gate.Inconclusive || !strings.Contains(v.Runs[0].Reason, "no accepted run of this context yet") || !strings.Contains(v.Runs[0].Reason, "may differ by") || !strings.Contains(v.Runs[0].Reason, "differs in sdk") {
		t.Errorf("15 %%: %s: %s", v.Verdict, v.Runs[0].Reason)
	}
	v = newAndroid{phones: 5, nights: 9, slower: 1.5, own: 0.01}.check(t, rand.New(rand.NewPCG(3, 7)))
	if v.Verdict != gate.Inconclusive || !strings.HasPrefix(v.Runs[0].Reason, "perhaps worse: ") {
		t.Errorf("50 %%: %s: %s", v.Verdict, v.Runs[0].Reason)
	}
}

// onNewAndroid returns the verdict on one run for each scenario, half as slow again, of a phone
// whose Android the history lacks, with as many nights of two phones; repetitions vary by 4.5 %.
// Three tenths of the time for rounds, of a minute each, are four minutes.
func onNewAndroid(t *testing.T, scenarios ...string) []gate.Comparison {
	t.Helper()
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Budget = gate.Budget{Rounds: 60, Minutes: 4 / 0.3, Durations: map[string]gate.RoundDurations{"": {Repetition: 0.5}}}
	at := func(id, scenario, model, sdk string, day int, ms float64) run.Run {
		r := wavering(id+scenario, model, day, ms, 0.045)
		r.Scenario, r.Session = scenario, id
		r.Context = map[string]string{"model": model, "sdk": sdk}
		return r
	}
	var subjects []Subject
	for _, scenario := range scenarios {
		var history []run.Run
		for day, luck := range lucks {
			for _, model := range []string{"a", "b"} {
				history = append(history, at(fmt.Sprint(model, day), scenario, model, "15", day, 8*math.Exp(0.02*luck)))
			}
		}
		subjects = append(subjects, Subject{Run: at("new", scenario, "a", "16", 99, 12), References: gatetest.Summaries(p, history...)})
	}
	var out []gate.Comparison
	for _, r := range Check(p, metric.Default(), subjects).Runs {
		out = append(out, r.Comparisons[0])
	}
	return out
}

// Rounds get a prior from a new Android's own run: how its nine repetitions vary, and how far it
// lies beyond the prediction of others. Its rounds may take three tenths of the budget: four
// minutes are four rounds, which exclude 20 % (0.1429, of 15 % it would be 0.1398; see gate/rounds,
// TestSettling), and two for each of two scenarios 25 % (0.2087).
func TestPriorOfNewAndroid(t *testing.T) {
	one := onNewAndroid(t, "scroll")[0]
	k := one.Prior
	if math.Abs(k.Repetition-0.045) > 0.002 || k.DF != 8 {
		t.Errorf("repetitions waver by %g with %g degrees of freedom, want 0.045 with 8", k.Repetition, k.DF)
	}
	if math.Abs(k.Beyond-math.Log(1.5)) > 0.02 || k.SD < 0.1 || k.SD > 0.3 {
		t.Errorf("it lies %g beyond, and may by %g; want %g and what two Androids differ by", k.Beyond, k.SD, math.Log(1.5))
	}
	if math.Abs(one.Effect-0.2) > 1e-9 {
		t.Errorf("%g is to be excluded, want 0.2", one.Effect)
	}
	for _, c := range onNewAndroid(t, "scroll", "search") {
		if math.Abs(c.Effect-0.25) > 1e-9 {
			t.Errorf("of two: %g is to be excluded, want 0.25", c.Effect)
		}
	}
}

// A phone of a new model may be far slower than all others.
func TestNewPhoneMayBeSlow(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	v := checkOne(p, gatetest.Nearly("b", perFrame, 20), gatetest.On("a", perFrame, 8, 8.1, 7.9, 8, 8.2, 8)...)
	if v.Verdict != gate.Inconclusive {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// Where a run is recorded and the accepted ones of its phone were not, or the other way round, the
// verdict names the setting, its old value and what to do. It does not for another phone, nor where
// there are accepted runs of both kinds.
func TestRecordedRunsAreJudgedApart(t *testing.T) {
	phone, taped := map[string]string{"model": "a"}, map[string]string{"model": "a", "recorded": "perfetto"}
	longer := map[string]string{"model": "a", "recorded": "perfetto+long"}
	p := gatetest.Policy(t, gate.PresetDefault)
	for name, c := range map[string]struct {
		now, before  map[string]string
		reason, hint string
	}{
		"turned on":        {taped, phone, "the 10 accepted runs of this device were not (evidence.keep was none)", "set evidence.keep back to none"},
		"recorded by more": {longer, taped, "this run was recorded by perfetto+long, and the 10 accepted runs of this device by perfetto", "set evidence and methods back to what they were"},
		"compiled": {map[string]string{"model": "a", "compiled": "speed"}, map[string]string{"model": "a", "compiled": "speed-profile"},
			"compiled as speed, and that of the 10 accepted runs of this device as speed-profile (compile, energy.methods", "set compile, energy.methods and evidence back"},
		"methods turned on": {map[string]string{"model": "a", "compiled": "speed", "recorded": "simpleperf"}, phone,
			"as not at all, and recorded otherwise (compile, energy.methods and evidence", "set compile, energy.methods and evidence back"},
		"turned off": {phone, taped, "the 10 accepted runs of this device were recorded (evidence.keep was not none), and this run was not", "set evidence.keep back to what it was, such as worst"},
	} {
		v := checkOne(p, gatetest.Timed("new", c.now, 8), gatetest.Steady(10, c.before, 8)...)
		if v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, c.reason) || !strings.HasPrefix(v.Hint, c.hint) {
			t.Errorf("%s: %s: %s; hint: %s", name, v.Verdict, v.Reason, v.Hint)
		}
	}
	other := checkOne(p, gatetest.Timed("new", map[string]string{"model": "b", "recorded": "perfetto"}, 8), gatetest.Steady(10, phone, 8)...)
	if strings.Contains(other.Reason+other.Hint, "evidence.keep") {
		t.Errorf("of another phone it says %s; hint: %s", other.Reason, other.Hint)
	}
	own := gatetest.Steady(10, taped, 8)
	for i := range own {
		own[i].ID += "recorded"
	}
	if v := checkOne(p, gatetest.Timed("new", taped, 8), append(own, gatetest.Steady(10, phone, 8)...)...); v.Verdict != gate.Pass {
		t.Errorf("beside runs that were recorded too: %s: %s", v.Verdict, v.Reason)
	}
}

// A value beyond the prediction is a regression where it is worse by a change that matters, and a
// suspect where other phones may reach it by chance.
func TestPredictedChangesThatMatter(t *testing.T) {
	m, _ := metric.Default().Lookup("frames.duration_ms")
	for name, c := range map[string]struct {
		value, p, tail float64
		denied         bool
		want           gate.Direction
	}{
		"a fifth more": {12, 0.001, 0.0001, false, gate.ToRegression}, "less than matters": {10.9, 0.001, 0.0001, false, gate.None}, "a fifth less": {8, 0.001, 0.9, false, gate.None},
		"by chance": {12, 0.2, 0.04, false, gate.Suspect}, "by more chance": {12, 0.2, 0.06, false, gate.None}, "another session denies it": {12, 0.001, 0.0001, true, gate.Suspect},
		"next to nothing": {10.005, 0.001, 0.0001, false, gate.None},
	} {
		j := &judgement{metric: m, policy: gate.CellPolicy{MinChange: 0.1}, tails: familywise.Tails{Worse: c.tail, Better: 1 - c.tail}, denied: c.denied}
		j.Comparison = gate.Comparison{Direction: gate.None, Value: c.value, Expected: 10, Change: c.value/10 - 1, P: c.p}
		if name == "next to nothing" {
			j.policy.MinChange = 0
		}
		if j.decidePredicted(gate.Policy{Alpha: 0.01}); j.Direction != c.want {
			t.Errorf("%s: %s, want %s", name, j.Direction, c.want)
		}
	}
}
