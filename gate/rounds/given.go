package rounds

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screening"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// given adds what the history knows of the number: how repetitions vary, how the new run
// compares with what was expected, and how often a rare event was seen. A worsening is then
// excluded by all of that together; what fails a build is the rounds alone, or of rare events
// all that were ever counted.
func (p Paired) given(k gate.Known, turn int) Paired {
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
	// mostDF bounds how many degrees of freedom what was seen before is worth: the noise of
	// the rounds themselves counts for no less than a third of that after ten of them.
	mostDF = 20
	// efficiency is that of the estimate of Hodges and Lehmann where noise is normal: 3/π.
	efficiency = 0.955
	// apart is how many standard errors the history and the rounds may differ by before the
	// history counts no more.
	apart = 2.5
)

// waver is the standard deviation of a difference by the history and the rounds together, and
// its degrees of freedom. The rounds' own is robust, as their estimate is: a repetition in
// twenty that something else on the device slowed down moves neither.
func (p Paired) waver() (sd, df float64) {
	var known gate.Known
	if p.known != nil {
		known = *p.known
	}
	seen, own := min(known.DF, mostDF), max(float64(len(p.differences))-1, 0)
	before, now := noiseOf(known, p.turn), stat.RobustSD(p.differences)
	return math.Sqrt((seen*before*before + own*now*now) / (seen + own)), seen + own
}

// estimated is what rounds and the history say together of the head build: how far it lies
// above the base build, the standard error of that, and its degrees of freedom.
func (p Paired) estimated() (shift, se, df float64) {
	shift, se, df = p.measured()
	if p.known == nil || p.known.SD <= 0 {
		return shift, se, df
	}
	a, b := 1/(se*se), 1/(p.known.SD*p.known.SD)
	return (a*shift + b*p.known.Beyond) / (a + b), 1 / math.Sqrt(a+b), df
}

// measured is the same of the rounds alone, by the noise that is known.
func (p Paired) measured() (shift, se, df float64) {
	waver, df := p.waver()
	return p.middle, waver / math.Sqrt(efficiency*float64(len(p.differences))), df
}

// contradicted reports whether the new run lies further from what the rounds show than both may
// be off. Something else has changed then, so that what the history knows of the noise is in doubt
// as well, and the rounds have to be as many as tell by their order alone.
func (p Paired) contradicted() bool {
	if p.known == nil || p.known.SD <= 0 || len(p.differences) < leastRounds {
		return false
	}
	shift, se, _ := p.measured()
	return math.Abs(shift-p.known.Beyond) > apart*math.Hypot(se, p.known.SD)
}

// leaves is the chance that a head build which is worse by the margin looks as good as this.
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

// reach is how far for the worse the head build may lie, at a one-sided level.
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

// rare are the rare events of the head build, in the new run and in rounds, and those of
// accepted builds, in the history and in rounds.
type rare struct {
	past                screening.Counts
	alone               bool // the past is the base build's in these rounds alone: nothing of this context is in the history
	events, repetitions float64
}

func rareOf(k gate.Known, turn int, p Paired) *rare {
	each := float64(turn)
	repetitions := each * float64(len(p.differences))
	r := &rare{events: k.Events + each*p.headEvents, repetitions: k.Repetitions + repetitions, alone: !k.Counts.Known()}
	if r.alone {
		r.past = screening.CountsOf([]screening.Count{{Events: each * p.baseEvents, Repetitions: repetitions}})
	} else {
		r.past = k.Counts.With(each*p.baseEvents, repetitions)
	}
	return r
}

// after are those after so many more repetitions of each build, with these events of the head.
func (r *rare) after(repetitions, events float64) *rare {
	out := *r
	out.repetitions += repetitions
	out.events += events
	if r.alone {
		now := r.past.Repetitions()
		out.past = screening.CountsOf([]screening.Count{{Events: r.past.Rate() * now, Repetitions: now + repetitions}})
	}
	return &out
}

// worse is the chance that a build as before has as many. One is no more than that.
func (r *rare) worse() float64 {
	if r.events < leastEvents {
		return 1
	}
	return r.past.AtLeast(r.events, r.repetitions)
}

const (
	// leastEvents are those that can fail a build.
	leastEvents = 2
	// oneInFive is the rate of a rare event, a repetition, that has to be excluded once it was
	// seen; where it never was, fewCounts.
	oneInFive = 0.2
)

// excludes is the chance that a build with so many more has no more than this: one in five
// repetitions, or twice as many as ever. What accepted builds never had and this one had more
// than once is not explained away by repetitions without it: 1.
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
