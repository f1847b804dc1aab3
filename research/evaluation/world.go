package evaluation

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/research/evaluation/series"
)

// World is what a history contains besides the runs of a design.
type World string

// The worlds.
const (
	// Plain is one phone, with nothing else.
	Plain World = "plain"
	// QuietBesideNoisy is a phone of the quietest third of the series, in whose history three of
	// the noisiest third have as many runs.
	QuietBesideNoisy World = "quiet-beside-noisy"
	// NoisyBesideQuiet is the reverse.
	NoisyBesideQuiet World = "noisy-beside-quiet"
	// NewPhone was never measured, only another phone.
	NewPhone World = "new-phone"
	// BadRun has one accepted run at three times the level, TwoBadRuns two.
	BadRun     World = "bad-run"
	TwoBadRuns World = "two-bad-runs"
	// Drift is a history in which each run is 1 % worse than the one before.
	Drift World = "drift"
	// LostImprovement is a history whose last third, one run at least, is 20 % better
	// than what was before; so is the new run, but for its shift.
	LostImprovement World = "lost-improvement"
	// InOrder has the history's runs in the order of time and right before the new one, as
	// pushes follow each other.
	InOrder World = "in-order"
	// Events has the series as events of one run and not as metrics.
	Events World = "events"
	// FiveDevices is a check of five phones with a history each, the first of them worse.
	FiveDevices World = "five-devices"
)

// Worlds returns all of them, each with a description for people.
func Worlds() []Described {
	return []Described{
		{Plain, "one phone and nothing beside the design"},
		{QuietBesideNoisy, "a quiet phone, and three noisy ones in its history"},
		{NoisyBesideQuiet, "a noisy phone, and three quiet ones in its history"},
		{NewPhone, "a phone that was never measured, and one that was"},
		{BadRun, "one accepted run at three times the level"},
		{TwoBadRuns, "two accepted runs at three times the level"},
		{Drift, "each accepted run is 1 % worse than the one before"},
		{LostImprovement, "the last third of the accepted runs is 20 % better than those before"},
		{InOrder, "the accepted runs are those measured right before the new one"},
		{Events, "the series are events of one run, and not metrics"},
		{FiveDevices, "five phones in one check, the first of them worse"},
	}
}

// Described is a world with its description.
type Described struct {
	World World
	Is    string
}

// Parameters of the worlds.
const (
	others       = 3    // phones beside the own one, but for a new one
	badLevel     = 3.0  // of an accepted bad run
	driftARun    = 0.01 // as a share
	improvedBy   = 0.2  // as a share of the level before
	devices      = 5
	levelsApart  = 0.3 // of phones, as the standard deviation of the logarithm
	thirds       = 3   // of the series: the quietest, the noisiest
	leastOfThird = 1
)

// phone is the data of one phone in a draw.
type phone struct {
	model   string
	cells   []source
	checked bool // it has a new run
	shifted bool // the first cell of its new run is worse
}

// scene is one draw: the data of an accepted history and a check.
type scene struct {
	phones []phone
	events bool
}

// pool is what a question's draws are from.
type pool struct {
	all, quiet, noisy []series.Series
	skipped           int // series that don't fit the design
}

// poolOf returns the series that fit a question. An error names what none fits.
func poolOf(q Question, all []series.Series) (pool, error) {
	var p pool
	for _, s := range all {
		if q.fits(s) {
			p.all = append(p.all, s)
		} else {
			p.skipped++
		}
	}
	if len(p.all) == 0 && q.AcrossSessions {
		return p, fmt.Errorf("%s across sessions: no series has a session of %d repetitions for the new run and another of %d for the history",
			q.Design, q.Design.New, q.Design.Repetitions)
	}
	if len(p.all) == 0 {
		return p, fmt.Errorf("%s: no series has %d values", q.Design, q.least())
	}
	if n := max(q.Metrics, 1); n > len(p.all) {
		return p, fmt.Errorf("%s with %d metrics: want at least as many series, and %d fit", q.Design, n, len(p.all))
	}
	sorted := slices.Clone(p.all)
	slices.SortStableFunc(sorted, func(a, b series.Series) int { return cmp.Compare(a.CV(), b.CV()) })
	third := max(len(sorted)/thirds, leastOfThird)
	p.quiet, p.noisy = sorted[:third], sorted[len(sorted)-third:]
	return p, nil
}

// scene draws one.
func (p pool) scene(q Question, draw int, rng *rand.Rand) (scene, error) {
	own, beside := p.all, p.all
	switch q.World {
	case QuietBesideNoisy:
		own, beside = p.quiet, p.noisy
	case NoisyBesideQuiet:
		own, beside = p.noisy, p.quiet
	}
	phones := 1
	if q.World == FiveDevices {
		phones = devices
	}
	out := scene{events: q.World == Events}
	for i := range phones {
		one, err := q.phone(own, draw+i, rng)
		if err != nil {
			return out, err
		}
		one.model, one.checked, one.shifted = fmt.Sprint("phone ", i+1), true, i == 0
		out.phones = append(out.phones, one)
	}
	if phones > 1 {
		out.phones[0].beside(rng, out.phones[1:])
	}
	switch q.World {
	case QuietBesideNoisy, NoisyBesideQuiet, NewPhone:
		beyond := others
		if q.World == NewPhone {
			beyond = 1
		}
		for i := range beyond {
			one, err := q.phone(beside, rng.IntN(len(beside)), rng)
			if err != nil {
				return out, err
			}
			one.model = fmt.Sprint("other ", i+1)
			out.phones = append(out.phones, one)
		}
		out.phones[0].beside(rng, out.phones[1:])
	}
	out.phones[0].befall(q.World, rng)
	return out, nil
}

// phone draws one whose first cell is of the series at that index.
func (q Question) phone(from []series.Series, place int, rng *rand.Rand) (phone, error) {
	first := from[place%len(from)]
	chosen := []series.Series{first}
	if q.Metrics > 1 {
		alike := func(s series.Series) bool { return s.Device == first.Device }
		like := from
		if q.AcrossSessions || len(slices.DeleteFunc(slices.Clone(from), func(s series.Series) bool { return !alike(s) })) >= q.Metrics {
			like = slices.DeleteFunc(slices.Clone(from), func(s series.Series) bool { return !alike(s) })
		}
		like = slices.DeleteFunc(slices.Clone(like), func(s series.Series) bool { return s.Name == first.Name && s.Device == first.Device })
		if len(like) < q.Metrics-1 {
			return phone{}, fmt.Errorf("%s with %d metrics: %s has %d series", q.Design, q.Metrics, first.Device, len(like)+1)
		}
		for _, k := range rng.Perm(len(like))[:q.Metrics-1] {
			chosen = append(chosen, like[k])
		}
	}
	switch {
	case q.AcrossSessions:
	case q.World == InOrder:
		return phone{cells: q.Design.window(rng, chosen)}, nil
	default:
		return phone{cells: q.Design.exchangeable(rng, chosen)}, nil
	}
	cells, err := q.Design.across(rng, chosen, q.World == InOrder)
	if err != nil {
		var names []string
		for _, s := range chosen {
			names = append(names, s.Name)
		}
		err = fmt.Errorf("%s across sessions, of %s: %w", q.Design, strings.Join(names, ", "), err)
	}
	return phone{cells: cells}, err
}

// beside lets other phones measure the same work, near its level, each in its own time.
func (p phone) beside(rng *rand.Rand, others []phone) {
	for _, o := range others {
		apart := math.Exp(levelsApart * rng.NormFloat64())
		for k := range o.cells {
			o.cells[k].metric = p.cells[k].metric
			own, other := meanSize(p.cells[k].of.Values), meanSize(o.cells[k].of.Values)
			if own > 0 && other > 0 {
				o.cells[k].scale(apart * own / other)
			}
		}
	}
}

// befall applies the world to the history of the phone.
func (p phone) befall(w World, rng *rand.Rand) {
	for k := range p.cells {
		history := p.cells[k].history
		n := len(history)
		switch w {
		case NewPhone:
			p.cells[k].history = nil
		case Drift:
			for i := range history {
				scale(history[i], math.Pow(1+driftARun, float64(i-n+1)))
			}
		case LostImprovement:
			for i := range n - max(1, n/thirds) {
				scale(history[i], 1/(1-improvedBy))
			}
		}
	}
	bad := map[World]int{BadRun: 1, TwoBadRuns: 2}[w]
	if n := len(p.cells[0].history); bad > 0 && n > 0 {
		for _, i := range rng.Perm(n)[:min(bad, n)] {
			for k := range p.cells {
				scale(p.cells[k].history[i], badLevel)
			}
		}
	}
}

func scale(values []float64, factor float64) {
	for i := range values {
		values[i] *= factor
	}
}

// scale moves all values of a source to another level.
func (s *source) scale(factor float64) {
	for _, values := range s.history {
		scale(values, factor)
	}
	scale(s.fresh, factor)
	s.session, s.of.Values = slices.Clone(s.session), slices.Clone(s.of.Values)
	scale(s.session, factor)
	scale(s.of.Values, factor)
}
