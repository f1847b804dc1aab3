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
}

// Chance is what draws numbers, such as a *rand.Rand.
type Chance interface {
	Float64() float64
	NormFloat64() float64
}

// Run is one of the world, in the context of that number, of a build that is so many
// times as slow.
func (w World) Run(rng Chance, id string, context int, slow float64) run.Run {
	level := 8 * math.Exp(0.5*math.Sin(float64(context)*12.9898))
	heat := math.Exp(w.Session * rng.NormFloat64())
	var events []run.Bucket
	count, janky, busy := 0.0, 0.0, 0.0
	for e := range w.Events {
		ms := level * heat * (1 + 0.2*float64(e%5)) * math.Exp(w.Noise*rng.NormFloat64()) * slow
		if rng.Float64() < 0.01 {
			ms *= 1 + w.Tail*rng.Float64()
		}
		n := math.Round(300 * math.Min(1, 16.67/ms))
		j := math.Round(n * math.Min(1, 0.02*ms/8))
		events = append(events, run.Bucket{Name: fmt.Sprint("E", e), Metrics: map[string]float64{"frames.count": n, "frames.janky": j, "frames.duration_ms": ms}})
		count, janky, busy = count+n, janky+j, busy+n*ms
	}
	r := Run(id, map[string]float64{"frames.count": count, "frames.janky": janky, "frames.duration_ms": busy / count}, events...)
	r.Context = map[string]string{"model": fmt.Sprint(context), "network": fmt.Sprint(context % 2), "cpu": "x86"}
	return r
}

// Worlds are some, from one phone to forty contexts.
var Worlds = map[string]World{
	"one phone, 5 runs":             {Contexts: 1, PerContext: 5, Events: 6, Session: 0.03, Noise: 0.03, Tail: 0.3},
	"one phone, 20 runs":            {Contexts: 1, PerContext: 20, Events: 6, Session: 0.03, Noise: 0.03, Tail: 0.3},
	"three phones, 3 runs each":     {Contexts: 3, PerContext: 3, Events: 6, Session: 0.03, Noise: 0.03, Tail: 0.3},
	"forty contexts, one run each":  {Contexts: 40, PerContext: 1, Events: 20, Session: 0.03, Noise: 0.05, Tail: 0.3},
	"three noisy phones, 20 events": {Contexts: 3, PerContext: 10, Events: 20, Session: 0.10, Noise: 0.10, Tail: 0.5},
}
