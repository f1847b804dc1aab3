package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// world is a simulated lab for the gate alone: contexts with their own level,
// sessions with their own heat, events with their own noise, and a heavy tail.
type world struct {
	contexts, perContext, events int
	session, noise, tail         float64
}

func (w world) run(rng *rand.Rand, id string, context int, slow float64) run.Run {
	level := 8 * math.Exp(0.5*math.Sin(float64(context)*12.9898))
	heat := math.Exp(w.session * rng.NormFloat64())
	var events []run.Bucket
	count, janky, busy := 0.0, 0.0, 0.0
	for e := range w.events {
		ms := level * heat * (1 + 0.2*float64(e%5)) * math.Exp(w.noise*rng.NormFloat64()) * slow
		if rng.Float64() < 0.01 {
			ms *= 1 + w.tail*rng.Float64()
		}
		n := math.Round(300 * math.Min(1, 16.67/ms))
		j := math.Round(n * math.Min(1, 0.02*ms/8))
		events = append(events, run.Bucket{Name: fmt.Sprint("E", e), Metrics: map[string]float64{"frames.count": n, "frames.janky": j, "frames.duration_ms": ms}})
		count, janky, busy = count+n, janky+j, busy+n*ms
	}
	r := oneRun(id, map[string]float64{"frames.count": count, "frames.janky": janky, "frames.duration_ms": busy / count}, events...)
	r.Context = map[string]string{"model": fmt.Sprint(context), "network": fmt.Sprint(context % 2), "cpu": "x86"}
	return r
}

// rates checks many worlds and returns the share of checks that fail or stay
// undecided, each of `batch` runs of a build that is slow times slower.
func (w world) rates(t *testing.T, preset string, trials, batch int, slow float64) (failed, undecided float64) {
	p := policy(t, preset)
	for trial := range trials {
		rng := rand.New(rand.NewPCG(uint64(trial), 99))
		var history []run.Run
		for c := range w.contexts {
			for i := range w.perContext {
				history = append(history, w.run(rng, fmt.Sprint("h", c, ".", i), c, 1))
			}
		}
		refs := summaries(p, history...)
		var subjects []Subject
		for b := range batch {
			subjects = append(subjects, Subject{Run: w.run(rng, fmt.Sprint("new", b), b%w.contexts, slow), References: refs})
		}
		switch Check(p, metric.Default(), subjects).Verdict {
		case Regression:
			failed++
		case Inconclusive:
			undecided++
		}
	}
	return failed / float64(trials), undecided / float64(trials)
}

var worlds = map[string]world{
	"one phone, 5 runs":             {contexts: 1, perContext: 5, events: 6, session: 0.03, noise: 0.03, tail: 0.3},
	"one phone, 20 runs":            {contexts: 1, perContext: 20, events: 6, session: 0.03, noise: 0.03, tail: 0.3},
	"three phones, 3 runs each":     {contexts: 3, perContext: 3, events: 6, session: 0.03, noise: 0.03, tail: 0.3},
	"forty contexts, one run each":  {contexts: 40, perContext: 1, events: 20, session: 0.03, noise: 0.05, tail: 0.3},
	"three noisy phones, 20 events": {contexts: 3, perContext: 10, events: 20, session: 0.10, noise: 0.10, tail: 0.5},
}

// At most one unchanged pull request in twenty may fail, with an allowance for
// the number of trials, however many comparisons a check makes.
func TestUnchangedBuildsPass(t *testing.T) {
	trials := 120
	if testing.Short() {
		trials = 60
	}
	for name, w := range worlds {
		for _, batch := range []int{1, 5, 15} {
			trials := trials
			if batch > 5 {
				trials /= 2
			}
			failed, undecided := w.rates(t, PresetDefault, trials, batch, 1)
			dune, _ := w.rates(t, PresetDune, trials/4, batch, 1)
			t.Logf("%-32s %d run(s): failed %.3f, undecided %.3f; dune fails %.2f", name, batch, failed, undecided, dune)
			if limit := 0.05 + 2*math.Sqrt(0.05*0.95/float64(trials)); failed > limit {
				t.Errorf("%s, %d run(s): %.3f of unchanged builds fail, want at most %.3f", name, batch, failed, limit)
			}
		}
	}
}

// A build that takes 60 % longer a frame has to fail where there is any history
// worth the name.
func TestSlowBuildsFail(t *testing.T) {
	for name, least := range map[string]float64{
		"one phone, 5 runs": 0.8, "one phone, 20 runs": 1, "three phones, 3 runs each": 0.95, "three noisy phones, 20 events": 0.75,
	} {
		failed, undecided := worlds[name].rates(t, PresetDefault, 60, 1, 1.6)
		t.Logf("%-32s failed %.3f, undecided %.3f", name, failed, undecided)
		if failed < least {
			t.Errorf("%s: %.3f of builds 60 %% slower fail, want at least %.2f", name, failed, least)
		}
	}
}
