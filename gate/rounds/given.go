package rounds

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screening"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// given adds the prior from the history: how repetitions vary, how the new run compares with the
// expected value, and how often a rare event occurred. A worsening is then excluded by all of that
// together; a build fails by the rounds alone, or for rare events by all that were ever counted.
func (p Paired) given(k gate.Prior, turn int) Paired {
	p.turn = turn
	switch {
	case p.metric.Mean && (k.Counts.Known() || k.Repetitions > 0 && len(p.differences) > 0):
		p.rare = rareOf(k, p.turn, p)
		p.Base, p.Head = p.rare.past.Rate(), p.rare.events/p.rare.repetitions
	case !p.metric.Mean && k.DF > 0 && k.Repetition > 0:
		if p.known = &k; p.contradicted() {
			p.known = nil
		}
	}
	return p
}

const (
	// mostDF limits the degrees of freedom of the prior: after ten rounds their own noise counts
	// for at least a third of it.
	mostDF = 20
	// efficiency is that of the Hodges-Lehmann estimate where noise is normal: 3/π.
	efficiency = 0.955
	// apart is the largest difference between the history and the rounds, in standard errors, with
	// which the history still counts.
	apart = 2.5
)

// noise returns the standard deviation of a difference by the history and the rounds together, and
// its degrees of freedom. The rounds' own is robust, as their estimate is: a repetition in twenty
// that something else on the device slowed down affects neither.
func (p Paired) noise() (sd, df float64) {
	var known gate.Prior
	if p.known != nil {
		known = *p.known
	}
	seen, own := min(known.DF, mostDF), max(float64(len(p.differences))-1, 0)
	before, now := noiseOf(known, p.turn), stat.RobustSD(p.differences)
	return math.Sqrt((seen*before*before + own*now*now) / (seen + own)), seen + own
}

// estimated returns how far the head build lies above the base build by the rounds and the history
// together, its standard error, and its degrees of freedom.
func (p Paired) estimated() (shift, se, df float64) {
	shift, se, df = p.measured()
	if p.known == nil || p.known.SD <= 0 {
		return shift, se, df
	}
	a, b := 1/(se*se), 1/(p.known.SD*p.known.SD)
	return (a*shift + b*p.known.Beyond) / (a + b), 1 / math.Sqrt(a+b), df
}

// measured returns the same for the rounds alone, with the known noise.
func (p Paired) measured() (shift, se, df float64) {
	noise, df := p.noise()
	return p.middle, noise / math.Sqrt(efficiency*float64(len(p.differences))), df
}

// contradicted reports whether the new run lies further from the rounds' result than their errors
// allow. Something else has changed then, so that the noise of the history is in doubt as well, and
// the rounds have to be enough to decide by their order alone.
func (p Paired) contradicted() bool {
	if p.known == nil || p.known.SD <= 0 || len(p.differences) < leastRounds {
		return false
	}
	shift, se, _ := p.measured()
	return math.Abs(shift-p.known.Beyond) > apart*math.Hypot(se, p.known.SD)
}

// leaves returns the chance that a head build which is worse by the margin looks as good as this.
func (p Paired) leaves(margin float64) float64 {
	if len(p.differences) < leastRounds {
		return 1
	}
	shift, se, df := p.estimated()
	short := (margin - shift) / se
	if margin < 0 {
		short = -short
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Survival(short)
}

// reach returns how far for the worse the head build may lie, at a one-sided level.
func (p Paired) reach(level float64) float64 {
	worse := 1.0
	if p.metric.Direction == metric.HigherIsBetter {
		worse = -1
	}
	if len(p.differences) < leastRounds {
		return math.Inf(int(worse))
	}
	shift, se, df := p.estimated()
	return shift + worse*se*distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1-level)
}

// rare counts the rare events of the head build, in the new run and in rounds, and those of
// accepted builds, in the history and in rounds.
type rare struct {
	past                screening.Counts
	alone               bool // the past is the base build's in these rounds only: the history has nothing of this context
	events, repetitions float64
}

func rareOf(k gate.Prior, turn int, p Paired) *rare {
	each := float64(turn)
	repetitions := each * float64(len(p.differences))
	r := &rare{events: k.Events + each*p.headEvents, repetitions: k.Repetitions + repetitions, alone: !k.Counts.Known()}
	if r.alone {
		r.past = screening.NewCounts([]screening.Count{{Events: each * p.baseEvents, Repetitions: repetitions}})
	} else {
		r.past = k.Counts.With(each*p.baseEvents, repetitions)
	}
	return r
}

// after returns the counts after so many more repetitions of each build, with these events of the
// head.
func (r *rare) after(repetitions, events float64) *rare {
	out := *r
	out.repetitions += repetitions
	out.events += events
	if r.alone {
		now := r.past.Repetitions()
		out.past = screening.NewCounts([]screening.Count{{Events: r.past.Rate() * now, Repetitions: now + repetitions}})
	}
	return &out
}

// worse returns the chance that an unchanged build has as many. A single event never decides.
func (r *rare) worse() float64 {
	if r.events < leastEvents {
		return 1
	}
	return r.past.AtLeast(r.events, r.repetitions)
}

const (
	// leastEvents is the least number that can fail a build.
	leastEvents = 2
	// oneInFive is the rate of a rare event, per repetition, that has to be excluded once one
	// occurred; where none did, it is fewCounts.
	oneInFive = 0.2
)

// excludes returns the chance that a build with a higher rate has no more than this: one more in
// five repetitions, or twice the usual rate. It is 1 where accepted builds never had one and this
// build more than one: repetitions without any do not explain them away.
func (r *rare) excludes() float64 {
	if r.events >= leastEvents && r.past.Rate() == 0 {
		return 1
	}
	more := fewCounts
	if r.events > 0 {
		more = oneInFive
	}
	return r.past.AtMost(r.events, r.repetitions, max(more, r.past.Rate())*r.repetitions)
}
