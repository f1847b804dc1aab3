package gatetest

import (
	"fmt"
	"math"

	"github.com/apkgate/apkgate/run"
)

// World is a simulated lab for the gate alone: contexts with their own level,
// sessions with their own heat, events with their own noise, and a heavy tail.
type World struct {
	Contexts, PerContext, Events int
	Session, Noise, Tail         float64
	// Repetitions is how many a run has; 0 is one.
	Repetitions int
	// Unlike is how much noisier each phone is than the one before, as a share.
	Unlike float64
	// Hot is the share of sessions that are slower by hotBy.
	Hot float64
	// Sessions and Values, if set, replace Session and Noise: the factors by which sessions of real
	// phones, and their repetitions, lie off.
	Sessions, Values []float64
}

// hotBy is how much slower a hot session is, as a share.
const hotBy = 0.15

// Chance draws numbers, such as a *rand.Rand.
type Chance interface {
	Float64() float64
	NormFloat64() float64
}

// factor draws one of the factors measured on real phones, or else a lognormal one.
func factor(rng Chance, drawn []float64, sd float64) float64 {
	if len(drawn) > 0 {
		return drawn[int(rng.Float64()*float64(len(drawn)))]
	}
	return math.Exp(sd * rng.NormFloat64())
}

// Run returns a run in the context of that number, of a build that is slow times as slow.
func (w World) Run(rng Chance, id string, context int, slow float64) run.Run {
	level := 8 * math.Exp(0.5*math.Sin(float64(context)*12.9898)) * factor(rng, w.Sessions, w.Session)
	if w.Hot > 0 && rng.Float64() < w.Hot {
		level *= 1 + hotBy
	}
	r := Run(id, nil)
	r.Context = map[string]string{"model": fmt.Sprint(context), "network": fmt.Sprint(context % 2), "cpu": "x86"}
	r.Iterations = nil
	for range max(w.Repetitions, 1) {
		r.Iterations = append(r.Iterations, w.repetition(rng, context, level*slow))
	}
	return r
}

// repetition returns one repetition at a level of milliseconds per frame.
func (w World) repetition(rng Chance, context int, level float64) run.Iteration {
	noise := w.Noise * math.Pow(1+w.Unlike, float64(context))
	var events []run.Bucket
	count, janky, busy := 0.0, 0.0, 0.0
	for e := range w.Events {
		ms := level * (1 + 0.2*float64(e%5)) * factor(rng, w.Values, noise)
		if rng.Float64() < 0.01 {
			ms *= 1 + w.Tail*rng.Float64()
		}
		n := math.Round(300 * math.Min(1, 16.67/ms))
		j := math.Round(n * math.Min(1, 0.02*ms/8))
		events = append(events, run.Bucket{Name: fmt.Sprint("E", e), Metrics: map[string]float64{"frames.count": n, "frames.janky": j, "frames.duration_ms": ms}})
		count, janky, busy = count+n, janky+j, busy+n*ms
	}
	return run.Iteration{Metrics: map[string]float64{"frames.count": count, "frames.janky": janky, "frames.duration_ms": busy / count}, Events: events}
}

// Worlds are examples, from one phone to forty contexts.
var Worlds = map[string]World{
	"one phone, 5 runs":             {Contexts: 1, PerContext: 5, Events: 6, Session: 0.03, Noise: 0.03, Tail: 0.3},
	"one phone, 20 runs":            {Contexts: 1, PerContext: 20, Events: 6, Session: 0.03, Noise: 0.03, Tail: 0.3},
	"three phones, 3 runs each":     {Contexts: 3, PerContext: 3, Events: 6, Session: 0.03, Noise: 0.03, Tail: 0.3},
	"forty contexts, one run each":  {Contexts: 40, PerContext: 1, Events: 20, Session: 0.03, Noise: 0.05, Tail: 0.3},
	"three noisy phones, 20 events": {Contexts: 3, PerContext: 10, Events: 20, Session: 0.10, Noise: 0.10, Tail: 0.5},
	"phones unlike in noise":        {Contexts: 4, PerContext: 4, Events: 3, Session: 0.02, Noise: 0.01, Tail: 0.3, Repetitions: 3, Unlike: 1},
	"sessions that run hot":         {Contexts: 1, PerContext: 9, Events: 3, Session: 0.02, Noise: 0.02, Tail: 0.3, Repetitions: 3, Hot: 0.15},
}
