package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// hungryWorld is a world whose runs also report joules, CPU time, wakelocks and network bytes, the
// first two after each event too.
type hungryWorld struct {
	gatetest.World
	slow, hungry float64 // factors of a frame's time and of the joules
	held         float64 // ms of an additional wakelock
}

// The noise of energy metrics: joules have that of a session and of a repetition; few runs hold a
// wakelock, for some seconds; bytes have a heavy tail.
func (w hungryWorld) run(rng *rand.Rand, id string, context int) run.Run {
	r := w.World.Run(rng, id, context, w.slow)
	heat := math.Exp(w.Session * rng.NormFloat64())
	it := &r.Iterations[0]
	total := 0.0
	for i, e := range it.Events {
		joules := 5 * (1 + 0.2*float64(i%5)) * heat * math.Exp(w.Noise*rng.NormFloat64()) * w.hungry
		if rng.Float64() < 0.01 {
			joules *= 1 + w.Tail*rng.Float64()
		}
		e.Metrics["energy.total_j"], e.Metrics["cpu.time_ms"] = joules, 200*joules*math.Exp(w.Noise*rng.NormFloat64())
		total += joules
	}
	it.Metrics["energy.total_j"], it.Metrics["cpu.time_ms"] = total, 200*total*math.Exp(w.Noise*rng.NormFloat64())
	it.Metrics["wakelock.time_ms"] = w.held
	if rng.Float64() < 0.05 {
		it.Metrics["wakelock.time_ms"] += 500 * rng.ExpFloat64()
	}
	for name, usual := range map[string]float64{"network.rx_bytes": 200_000, "network.tx_bytes": 20_000} {
		it.Metrics[name] = usual
	}
	for _, name := range []string{"network.rx_bytes", "network.tx_bytes"} {
		it.Metrics[name] *= math.Exp(0.3 * rng.NormFloat64())
		if rng.Float64() < 0.02 {
			it.Metrics[name] *= 5
		}
	}
	r.Context[metric.EnergyFrom] = "battery"
	return r
}

// failed returns the share of checks of w that fail against a history of an unchanged world, with
// the metrics that are judged by default or with the named ones alone.
func (w hungryWorld) failed(t *testing.T, trials int, metrics ...string) float64 {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Metrics = metrics
	unchanged := hungryWorld{World: w.World, slow: 1, hungry: 1}
	n := 0
	for trial := range trials {
		rng := rand.New(rand.NewPCG(uint64(trial), 31))
		var history []run.Run
		for c := range w.Contexts {
			for i := range w.PerContext {
				history = append(history, unchanged.run(rng, fmt.Sprint("h", c, ".", i), c))
			}
		}
		subject := Subject{Run: w.run(rng, "new", trial%w.Contexts), References: gatetest.Summaries(p, history...)}
		if Check(p, metric.Default(), []Subject{subject}).Verdict == gate.Regression {
			n++
		}
	}
	return float64(n) / float64(trials)
}

// failedInRounds returns the same for two builds in rounds.
func (w hungryWorld) failedInRounds(t *testing.T, trials, rounds int, metrics ...string) float64 {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Metrics = metrics
	n := 0
	for trial := range trials {
		rng := rand.New(rand.NewPCG(uint64(trial), 37))
		base, head := w.inRounds(rng, rounds)
		if sidebyside.Compare(p, metric.Default(), base, head).Verdict == gate.Regression {
			n++
		}
	}
	return float64(n) / float64(trials)
}

func (w hungryWorld) inRounds(rng *rand.Rand, rounds int) (base, head []run.Run) {
	one := w
	one.Noise, one.Session = w.Noise*math.Sqrt(float64(rounds)), 0 // of a repetition; a round shares its session
	same := hungryWorld{World: one.World, slow: 1, hungry: 1}
	for c := range w.Contexts {
		pair := []run.Run{}
		for side, build := range []hungryWorld{same, one} {
			r := build.run(rng, fmt.Sprint("run", side, c), c)
			for range rounds - 1 {
				r.Iterations = append(r.Iterations, build.run(rng, "", c).Iterations...)
			}
			r.Session = "together"
			pair = append(pair, r)
		}
		base, head = append(base, pair[0]), append(head, pair[1])
	}
	return base, head
}

var ofFrames = []string{"frames.smooth_ratio", "frames.duration_ms"}

// Joules, CPU time and wakelocks add tests to those of the frames, and may not add false alarms;
// and a build that costs energy is detected.
func TestEnergyBesideFrames(t *testing.T) {
	trials := 100
	limit := 0.01 + 2*math.Sqrt(0.01*0.99/float64(trials))
	for name, w := range gatetest.Worlds {
		w.Contexts, w.Events = min(w.Contexts, 10), min(w.Events, 10)
		if failed := (hungryWorld{World: w, slow: 1, hungry: 1}).failed(t, trials); failed > limit {
			t.Errorf("%s: %.3f of unchanged builds fail, want at most %.3f", name, failed, limit)
		}
		if failed := (hungryWorld{World: w, slow: 1, hungry: 1, held: 600_000}).failed(t, trials/4); failed < 1 && w.PerContext >= 5 {
			t.Errorf("%s: %.3f of builds that hold a wakelock for ten minutes fail, want all", name, failed)
		}
	}
	w := hungryWorld{World: gatetest.Worlds["one phone, 20 runs"], slow: 1, hungry: 1.3}
	if failed := w.failed(t, trials); failed < 0.3 { // the others are measured in rounds
		t.Errorf("%.3f of builds that take 30 %% more joules fail, want at least 0.3", failed)
	}
	if failed := w.failedInRounds(t, trials/4, 20); failed < 0.9 {
		t.Errorf("%.3f of builds that take 30 %% more joules fail beside their base, want at least 0.9", failed)
	}
	w.hungry = 1
	if failed := w.failedInRounds(t, trials, 20); failed > limit {
		t.Errorf("%.3f of equal builds fail beside their base, want at most %.3f", failed, limit)
	}
}

// The table of docs/evaluation/energy.md: the power that the frames lose as more is tested.
func TestEnergyCostsPowerOfFrames(t *testing.T) {
	if os.Getenv("APKGATE_EVALUATION") != "full" {
		t.Skip("it takes minutes: set APKGATE_EVALUATION=full")
	}
	const trials = 500
	for _, name := range []string{"one phone, 5 runs", "one phone, 20 runs", "three phones, 3 runs each"} {
		for _, w := range []hungryWorld{
			{slow: 1, hungry: 1}, {slow: 1.15, hungry: 1}, {slow: 1.25, hungry: 1}, {slow: 1, hungry: 1.1}, {slow: 1, hungry: 1.2}, {slow: 1, hungry: 1.3},
		} {
			w.World = gatetest.Worlds[name]
			t.Logf("| %s | frames ×%.2f, joules ×%.2f | %.3f | %.3f | %.3f |", name, w.slow, w.hungry,
				w.failed(t, trials, ofFrames...), w.failed(t, trials, "energy.total_j"), w.failed(t, trials))
			if w.PerContext != 20 {
				continue
			}
			for _, rounds := range []int{12, 20, 30} {
				t.Logf("| %d rounds | frames ×%.2f, joules ×%.2f | %.3f | %.3f | %.3f |", rounds, w.slow, w.hungry,
					w.failedInRounds(t, trials, rounds, ofFrames...), w.failedInRounds(t, trials, rounds, "energy.total_j"), w.failedInRounds(t, trials, rounds))
			}
		}
	}
}
