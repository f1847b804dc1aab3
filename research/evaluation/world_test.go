package evaluation_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// phone is a simulated phone's consumption: what makes two repetitions of one workload use
// different amounts of energy.
type phone struct {
	name string
	// noise is the spread of one repetition, and session how far sessions lie
	// apart, both as standard deviations of the logarithm.
	noise, session float64
	// heat is by what share the power grows until the phone is warm, wane by
	// what share from a full battery to a low one, in warmUp and wholeCharge
	// repetitions.
	heat, wane float64
	// little is the share of repetitions that run on the small cores: 0.8 W for
	// 90 s where the large ones take 1.2 W for 50 s. The paper saw these powers,
	// and the shorter time that costs less (EDATA, section 6.2.2).
	little float64
	// burst is the share of repetitions with work in the background, of 10 % more
	// energy on average, exponentially distributed.
	burst float64
}

const (
	warmUp      = 8
	wholeCharge = 120
	burstShare  = 0.1
)

// phones are noisy each in its own way.
var phones = []phone{
	{name: "noise of 1 %", noise: 0.01, session: 0.01},
	{name: "noise of 2 %", noise: 0.02, session: 0.02},
	{name: "noise of 4 %", noise: 0.04, session: 0.04},
	{name: "2 %, heat and a waning battery", noise: 0.02, session: 0.02, heat: 0.06, wane: 0.05},
	{name: "2 %, two kinds of core", noise: 0.02, session: 0.02, little: 0.3},
	{name: "2 %, work in the background", noise: 0.02, session: 0.02, burst: 0.15},
	{name: "4 %, all of it", noise: 0.04, session: 0.04, heat: 0.06, wane: 0.05, little: 0.3, burst: 0.15},
}

// repetition is the energy of the one at that place in the session, in joules, of
// a version that takes change more.
func (p phone) repetition(rng *rand.Rand, place int, change float64) float64 {
	joules := 1.2 * 50
	if rng.Float64() < p.little {
		joules = 0.8 * 90
	}
	joules *= 1 + change
	joules *= 1 + p.heat*(1-math.Exp(-float64(place)/warmUp)) + p.wane*float64(place)/wholeCharge
	joules *= math.Exp(p.noise * rng.NormFloat64())
	if rng.Float64() < p.burst {
		joules += 1.2 * 50 * burstShare * rng.ExpFloat64()
	}
	return joules
}

// level is how far a session lies off, as a factor.
func (p phone) level(rng *rand.Rand) float64 { return math.Exp(p.session * rng.NormFloat64()) }

// rounds are two versions' runs of a session alternately, in the order of compare:
// base, head, head, base, and so on.
func (p phone) rounds(rng *rand.Rand, n int, change float64) (base, head run.Run) {
	level := p.level(rng)
	var joules [2][]float64
	for place := range 2 * n {
		side := headsTurn(place)
		joules[side] = append(joules[side], level*p.repetition(rng, place, change*float64(side)))
	}
	return energyRun("base", "together", joules[0]), energyRun("head", "together", joules[1])
}

// headsTurn is 1 where the head is measured at that place of a session alternately.
func headsTurn(place int) int { return (place + 1) / 2 % 2 }

// sessions are two versions' runs in a session each, as the paper measured them.
func (p phone) sessions(rng *rand.Rand, n int, change float64) (base, head run.Run) {
	return p.oneSession(rng, "base", n, 0), p.oneSession(rng, "head", n, change)
}

func (p phone) oneSession(rng *rand.Rand, id string, n int, change float64) run.Run {
	level := p.level(rng)
	var joules []float64
	for place := range n {
		joules = append(joules, level*p.repetition(rng, place, change))
	}
	return energyRun(id, "", joules)
}

// energyRun is a run that measured nothing but its joules.
func energyRun(id, session string, joules []float64) run.Run {
	r := run.Run{
		Format: run.Format, ID: id, App: run.App{Package: "app"}, Scenario: "s", Session: session, Status: run.Complete,
		Context: map[string]string{"model": "simulated", metric.EnergyFrom: "battery"},
	}
	for _, j := range joules {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"energy.total_j": j}})
	}
	return r
}

// trials is how often an experiment is repeated.
func trials(reduced, full int) int {
	if os.Getenv("APKGATE_EVALUATION") == "full" {
		return full
	}
	return reduced
}

// chance is what one trial of an experiment draws from: the same for every size of
// change, so that a row of a table differs by the change alone.
func chance(experiment string, trial int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(experiment))
	return rand.New(rand.NewPCG(uint64(trial), h.Sum64()))
}

// mostOf is how many of n trials may show what has the probability p: more would
// be seen in less than one of a thousand experiments.
func mostOf(n int, p float64) int {
	tail, term := 1.0, math.Pow(1-p, float64(n)) // P(X ≥ k), P(X = k)
	for k := range n {
		if tail < 0.001 {
			return k - 1
		}
		tail -= term
		term *= float64(n-k) / float64(k+1) * p / (1 - p)
	}
	return n
}

func share(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }
