// Package pullrequest simulates a whole pull request: several scenarios with their default numbers
// and UI events, checked against a history of nights and measured in rounds with the base build
// within so many minutes, by the same planner as `apkgate run`.
//
// Its draws are modelled: noise of repetitions, sessions and single numbers is lognormal, bad
// frames are counted out of a fixed number, and a phone's time is set-up and repetitions. It
// measures nothing. The package above it evaluates single numbers of real series.
package pullrequest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Noise is how far the logarithms of times vary, as standard deviations: between repetitions of a
// session, of which 40 % of the variance is common to all of its numbers; between sessions, common
// to everything in a session; and of one number of one scenario between sessions.
type Noise struct {
	Name                      string
	Repetition, Session, Cell float64
	// Skewed draws repetitions from an exponential distribution of the same spread: most are
	// a little quicker than the mean, some much slower. Stuck is how often a phone changes to
	// a clock that makes all times 30 % longer, or back, between two repetitions.
	Skewed bool
	Stuck  float64
}

// Noises returns those of the table, quietest first.
func Noises() []Noise {
	return []Noise{
		{Name: "quiet phone 4/2/1", Repetition: 0.04, Session: 0.02, Cell: 0.01},
		{Name: "hosted, kind 8/5/3", Repetition: 0.08, Session: 0.05, Cell: 0.03},
		{Name: "hosted 15/10/5", Repetition: 0.15, Session: 0.10, Cell: 0.05},
		{Name: "hosted, bad 25/15/8", Repetition: 0.25, Session: 0.15, Cell: 0.08},
	}
}

// Unkind returns noises that are not lognormal.
func Unkind() []Noise {
	return []Noise{
		{Name: "hosted, kind, skewed", Repetition: 0.08, Session: 0.05, Cell: 0.03, Skewed: true},
		{Name: "hosted, kind, stuck clocks", Repetition: 0.05, Session: 0.05, Cell: 0.03, Stuck: 0.1},
	}
}

// Change is what the pull request does to the app.
type Change struct {
	Name string
	// All and First make all times longer, of every scenario or of the first alone, Event those
	// of the first scenario's first UI event, each by a share.
	All, First, Event float64
	// Janky is the share of bad frames that the first scenario has now; 0 is as before.
	Janky float64
	// ANRs is how often the first scenario ends a repetition in an ANR.
	ANRs float64
	// Unseen measures it on an Android that the history lacks, on a phone that it has among others.
	Unseen bool
	// Repetitions of the new run; 0 is the world's.
	Repetitions int
}

// Changes are those of the table.
func Changes() []Change {
	return []Change{
		{Name: "none"},
		{Name: "a scenario +10 %", First: 0.1},
		{Name: "a scenario +20 %", First: 0.2},
		{Name: "a scenario +30 %", First: 0.3},
		{Name: "an event +30 %", Event: 0.3},
		{Name: "all +10 %", All: 0.1},
		{Name: "janky frames 1 to 4 %", Janky: 0.04},
		{Name: "an ANR in 3 of 10", ANRs: 0.3, Repetitions: 10},
		{Name: "a new Android, none", Unseen: true},
		{Name: "a new Android, all +200 %", Unseen: true, All: 2},
	}
}

// Matters reports whether worlds of other numbers of scenarios are tried with the change too.
func (c Change) Matters() bool {
	return c == Change{Name: c.Name} || c.First >= 0.2 || c.ANRs > 0
}

// World is a team's project at the time of a pull request.
type World struct {
	Noise     Noise
	Scenarios int
	Change    Change
	// Nights are those that the history holds, of Repetitions each, as many as the new run has.
	Nights, Repetitions int
	// Lasts is how long a round's parts take, Minutes how long all may take together.
	Lasts   gate.RoundDurations
	Minutes float64
}

// Of what the app does.
const (
	frames     = 480 // that a repetition draws
	eventCount = 4
	janky      = 0.01
	sharedPart = 0.4 // of a repetition's variance, common to its numbers
	steeper    = 2   // odds of a bad frame move so many times as far as times
	wider      = 1.5 // the tail varies so many times as far as the mean
)

// Of a history with several phones: how many they are, and the standard deviations of what
// they differ by, and what one differs by from one Android to the next.
const (
	phones        = 4
	phonesApart   = 0.57
	androidsApart = 0.15
)

// phone draws the measurements of one device.
type phone struct {
	World
	rng *rand.Rand
	// slow says that the clock is stuck at the slower one.
	slow    bool
	context map[string]string
	level   float64 // the logarithm of its times, beside those of the app
}

// use switches to another phone of the history.
func (p *phone) use(model int, level float64) {
	p.context, p.level = map[string]string{"model": fmt.Sprint("phone ", model), "sdk": "34"}, level
}

// update gives it an Android that the history lacks.
func (p *phone) update() {
	p.context = map[string]string{"model": p.context["model"], "sdk": "35"}
	p.level += androidsApart * p.rng.NormFloat64()
}

// session is the random part of one session.
type session struct {
	all  float64
	cell map[run.Cell]float64
}

func (p *phone) session() session {
	return session{p.rng.NormFloat64() * p.Noise.Session, map[run.Cell]float64{}}
}

// Accepted draws the runs of a history: the world's nights, in each of which so many phones, as
// different as those of one history, make a session of all its scenarios.
func (w World) Accepted(rng *rand.Rand, phones int) []run.Run {
	ph := &phone{World: w, rng: rng}
	levels := make([]float64, phones)
	for i := range levels {
		levels[i] = phonesApart * rng.NormFloat64()
	}
	var out []run.Run
	for night := range w.Nights {
		for model, level := range levels {
			ph.use(model, level)
			s := ph.session()
			for i := range w.Scenarios {
				out = append(out, ph.record(s, i, fmt.Sprint(ph.context["model"], " night ", night), night, w.Repetitions, false))
			}
		}
	}
	return out
}

// cellOf returns the session's effect on one number of a scenario.
func (p *phone) cellOf(s session, scenario int, event, metric string) float64 {
	at := run.Cell{Event: fmt.Sprint(scenario, " ", event), Metric: metric}
	if _, drawn := s.cell[at]; !drawn {
		s.cell[at] = p.rng.NormFloat64() * p.Noise.Cell
	}
	return s.cell[at]
}

// record returns a run of one scenario.
func (p *phone) record(s session, scenario int, name string, day, repetitions int, head bool) run.Run {
	r := run.Run{
		Format: run.Format, ID: fmt.Sprint(name, "-", scenario), Started: began.AddDate(0, 0, day), App: run.App{Package: "app"},
		Source: run.Source{Commit: fmt.Sprintf("%040x", day+1)}, Scenario: fmt.Sprint("scenario ", scenario), Session: name, Status: run.Complete,
		Context: maps.Clone(p.context), Warnings: []run.Warning{},
	}
	for range repetitions {
		r.Iterations = append(r.Iterations, p.repetition(s, scenario, head))
	}
	return r
}

var began = time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)

// repetition draws one: its times share what the repetition had.
func (p *phone) repetition(s session, scenario int, head bool) run.Iteration {
	common := p.waver()*math.Sqrt(sharedPart) + p.clock()
	lies := s.all + p.level // of all times
	own := func(wide float64) float64 { return wide * p.waver() * math.Sqrt(1-sharedPart) }
	c := p.Change
	worse := 0.0
	if head {
		worse = math.Log1p(c.All)
		if scenario == 0 {
			worse += math.Log1p(c.First)
		}
	}
	times := func(event, metric string, level, wide, more float64) float64 {
		return level * math.Exp(lies+p.cellOf(s, scenario, event, metric)+wide*common+own(wide)+more)
	}
	shares := func(event string, drawn int) float64 {
		share := janky
		if head && scenario == 0 && c.Janky > 0 {
			share = c.Janky
		}
		odds := math.Log(share/(1-share)) + steeper*(lies+p.cellOf(s, scenario, event, ratio)+common+own(1))
		bad := distuv.Binomial{N: float64(drawn), P: 1 / (1 + math.Exp(-odds)), Src: p.rng}.Rand()
		return 1 - bad/float64(drawn)
	}
	it := run.Iteration{Metrics: map[string]float64{
		"frames.count":           frames,
		"frames.duration_ms":     times("", "mean", 9, 1, worse+p.ofEvent(scenario, head)),
		"frames.duration_ms.p95": times("", "p95", 15, wider, worse),
		ratio:                    shares("", frames),
		"startup.ttid_ms":        times("", "ttid", 400, 1, worse),
		"cpu.time_ms":            times("", "cpu", 2000, 1, worse),
		"memory.pss_kb":          times("", "pss", 90_000, 0.2, 0),
		"frames.frozen":          0,
		"anr.count":              p.anr(scenario, head),
	}}
	for e := range eventCount {
		name := fmt.Sprint("E", e)
		more := worse
		if head && scenario == 0 && e == 0 {
			more += math.Log1p(c.Event)
		}
		it.Events = append(it.Events, run.Bucket{Name: name, Metrics: map[string]float64{
			"frames.count":       frames / (eventCount + 1),
			"frames.duration_ms": times(name, "mean", 9, 1.2, more),
			ratio:                shares(name, frames/(eventCount+1)),
		}})
	}
	return it
}

// waver returns the noise of one repetition.
func (p *phone) waver() float64 {
	if p.Noise.Skewed {
		return (p.rng.ExpFloat64() - 1) * p.Noise.Repetition
	}
	return p.rng.NormFloat64() * p.Noise.Repetition
}

// clock returns the effect of the phone's clock on this repetition.
func (p *phone) clock() float64 {
	const slower = 1.3
	if p.Noise.Stuck > 0 && p.rng.Float64() < p.Noise.Stuck {
		p.slow = !p.slow
	}
	if p.slow {
		return math.Log(slower)
	}
	return 0
}

const ratio = "frames.smooth_ratio"

// ofEvent returns what a longer first event adds to the whole run's mean.
func (p *phone) ofEvent(scenario int, head bool) float64 {
	if !head || scenario > 0 {
		return 0
	}
	return math.Log1p(p.Change.Event / (eventCount + 1))
}

func (p *phone) anr(scenario int, head bool) float64 {
	if head && scenario == 0 && p.rng.Float64() < p.Change.ANRs {
		return 1
	}
	return 0
}
