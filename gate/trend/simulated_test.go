package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// nights simulates a lab: five phones of different levels, of which each misses one night of five,
// the fourth comes in the second quarter of the history and the fifth leaves in the last. A night
// has a noise that its phones share, a phone has its own, one run of a hundred is wild, and one
// night of fifty is hot on every phone.
type nights struct {
	n int
	noise
	follows   float64 // how far a night's noise follows that of the night before
	level     func(night int) float64
	decisions map[int]Decision
}

// The noise of the simulated nights: that of the table of costs, and that of joules, which real
// phones have (TestNoiseOfRealPhones).
var (
	ofFrames = noise{own: 0.03, shared: 0.015}
	ofJoules = noise{own: 0.046, shared: 0.015}
	ofWorst  = noise{own: 0.098, shared: 0.017}
)

// simulatedHistory is of 200 nights with the noise of frames.
func simulatedHistory(level func(night int) float64) nights {
	return nights{n: 200, noise: ofFrames, level: level}
}

func (w nights) runs(rng *rand.Rand) []Run {
	var out []Run
	shared := 0.0
	for night := range w.n {
		shared = w.follows*shared + math.Sqrt(1-w.follows*w.follows)*w.shared*rng.NormFloat64()
		hot := 0.0
		if rng.Float64() < 0.02 {
			hot = 0.15
		}
		for phone := range 5 {
			absent := rng.Float64() < 0.2 || phone == 3 && night < w.n/4 || phone == 4 && night > w.n*3/4
			y := math.Log(8) + 0.3*float64(phone) + w.level(night) + shared + hot + w.own*rng.NormFloat64()
			if rng.Float64() < 0.01 {
				y += 0.4
			}
			if absent {
				continue
			}
			id := fmt.Sprintf("n%d.%d", night, phone)
			out = append(out, Run{Package: "com.example.mail", Scenario: "read-mail", Decision: w.decisions[night], Summary: run.Summary{
				ID: id, Session: fmt.Sprint("s", night), Commit: fmt.Sprintf("%040x", night),
				Started: time.Date(2026, 1, 1+night, 3, phone, 0, 0, time.UTC), Context: gatetest.Phone(fmt.Sprint("phone ", phone)),
				Cells: run.CellsOf(map[run.Cell]float64{{Metric: "frames.duration_ms"}: math.Exp(y)}),
			}})
		}
	}
	return out
}

// truth is a history with a step, a creep and a level that was accepted.
type truth struct{ step, creepFrom, creepTo, accepted int }

func drawn(rng *rand.Rand) truth {
	t := truth{step: 30 + rng.IntN(25)}
	t.creepFrom = t.step + 45 + rng.IntN(10)
	t.creepTo = t.creepFrom + 45
	t.accepted = t.creepTo + 15 + rng.IntN(10)
	return t
}

// level has a step of 10 %, a creep of 12 % and a new level that is 15 % higher.
func (t truth) level(night int) (y float64) {
	if night >= t.step {
		y += math.Log(1.10)
	}
	y += math.Log(1.12) * min(max(float64(night-t.creepFrom)/float64(t.creepTo-t.creepFrom), 0), 1)
	if night >= t.accepted {
		y += math.Log(1.15)
	}
	return y
}

// found counts what is found of it: steps within two nights, moving levels, other changes.
type found struct{ step, accepted, creep, noted, false int }

func (t truth) found(s Series) (f found) {
	for _, c := range s.Changes {
		switch off := func(at int) int { return max(c.First-at, at-c.First) }; {
		case off(t.step) <= 2:
			f.step++
		case off(t.accepted) <= 2:
			f.accepted++
			if c.Decision != nil && c.Decision.NewLevel {
				f.noted++
			}
		default:
			f.false++
		}
	}
	for _, l := range s.Levels {
		if l.Moves() && l.End > l.Start && l.From < t.creepTo-10 && l.To > t.creepFrom+10 {
			f.creep = 1
		}
	}
	return f
}

// tally is what is found in histories with changes, and in quiet ones, of every series.
type tally struct {
	found
	histories, quiet, quietSeries int
}

func (c costs) tally(p gate.Policy, histories int, follows float64, noise noise) tally {
	out := tally{histories: histories}
	for seed := range uint64(histories) {
		rng := rand.New(rand.NewPCG(seed, 25))
		truth := drawn(rng)
		w := simulatedHistory(truth.level)
		w.noise, w.follows, w.decisions = noise, follows, map[int]Decision{truth.accepted: {NewLevel: true, Note: "larger previews are wanted"}}
		f := truth.found(of(p, metric.Default(), w.runs(rng), c)[0].Numbers[0].Fleet)
		s := &out.found
		s.step, s.accepted, s.noted, s.creep, s.false = s.step+f.step, s.accepted+f.accepted, s.noted+f.noted, s.creep+f.creep, s.false+f.false
		w = simulatedHistory(func(int) float64 { return 0 })
		w.noise, w.follows = noise, follows
		for _, s := range allSeries(of(p, metric.Default(), w.runs(rng), c)[0]) {
			out.quiet += len(s.Changes)
			out.quietSeries++
		}
	}
	return out
}

// A step of 10 %, a creep of 12 % in 45 nights and an accepted level of 15 % more are found in 200
// nights of five phones that come and go, with the noise of frames: change points within two nights,
// and few others. With that of joules, a step of 10 % before a creep is found in every second history.
func TestChangePointsOfSimulatedNights(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		noise
		histories   int
		least, step float64
	}{"frames": {ofFrames, 30, 0.9, 0.9}, "joules": {ofJoules, 15, 0.8, 0.4}} {
		got := usual.tally(gatetest.Policy(t, gate.PresetDefault), c.histories, 0, c.noise)
		n := float64(got.histories)
		for what, k := range map[string]int{"accepted levels": got.accepted, "reasons": got.noted, "creeps": got.creep} {
			if share := float64(k) / n; share < c.least {
				t.Errorf("%s of %s: %.0f %% are found, want %.0f %%", what, name, 100*share, 100*c.least)
			}
		}
		if share := float64(got.step) / n; share < c.step {
			t.Errorf("steps of %s: %.0f %% are found, want %.0f %%", name, 100*share, 100*c.step)
		}
		if float64(got.false) > 0.5*n || float64(got.quiet) > 0.05*float64(got.quietSeries) {
			t.Errorf("%s: %d false changes next to real ones in %d histories, want one in two; %d in %d quiet series, want one in twenty",
				name, got.false, got.histories, got.quiet, got.quietSeries)
		}
	}
}

// The table of docs/evaluation/trend.md, printed with APKGATE_EVALUATION=full and -v.
func TestSweepOfCosts(t *testing.T) {
	if os.Getenv("APKGATE_EVALUATION") != "full" {
		t.Skip("prints a table; set APKGATE_EVALUATION=full")
	}
	p := gatetest.Policy(t, gate.PresetDefault)
	for _, follows := range []float64{0, 0.5} {
		for _, c := range []costs{{2, 1}, {3, 1}, {4, 0}, {4, 1}, {4, 3}, {5, 1}, {6, 1}} {
			g := c.tally(p, 200, follows, ofFrames)
			t.Logf("| %.1f | %g | %g | %.1f | %.1f | %.1f | %.2f | %.3f |", follows, c.change, c.slope,
				g.share(g.step), g.share(g.accepted), g.share(g.creep), g.share(g.false)/100, float64(g.quiet)/float64(g.quietSeries))
		}
	}
	for _, n := range []noise{ofFrames, ofJoules, ofWorst} {
		g := usual.tally(p, 200, 0, n)
		t.Logf("| %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.2f | %.3f |", 100*n.shared, 100*n.own,
			g.share(g.step), g.share(g.accepted), g.share(g.creep), g.share(g.false)/100, float64(g.quiet)/float64(g.quietSeries))
	}
}

// share returns a count as a percentage of the histories.
func (t tally) share(n int) float64 { return 100 * float64(n) / float64(t.histories) }

func allSeries(s Scenario) (out []Series) {
	for _, n := range s.Numbers {
		out = append(append(out, n.Fleet), n.Devices...)
	}
	return out
}
