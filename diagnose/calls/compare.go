package calls

import (
	"math"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// The least that is named.
const (
	certain = 3.0 // errors by which a time must have grown
	worth   = 0.1 // of all additional time that a cause must explain
	leastMS = 1.0 // per repetition that it must cost
	half    = 0.5 // of a cause's time that has to be of one thing
	// drifted is the part of its mean by which any time may differ from session to session, as in
	// diagnose/jankcause.
	drifted = 0.05
	// unknown takes its place where there are too few repetitions to show how much they vary: a time
	// has to be four times as long.
	unknown = 0.25
	// beyond is the chance, for one method, of a time that is certain errors off: that of four
	// standard errors of a normal distribution, since a trace has a thousand methods.
	beyond = 3.17e-5
	// byChance is the largest chance, for anything to be clear, that the head's repetitions are
	// those with the longest times though nothing changed.
	byChance     = 0.02
	leastFreedom = 4
	level        = 0.95
	z95          = 1.96
)

// comparison is what the main thread did in an event, and before.
type comparison struct {
	*forest
	event string
	own   func(method string) bool
	// alone is set where the head's repetitions in which something went wrong are compared with its
	// own others.
	alone bool
	// missedMS bounds the time before of what its trees left out.
	missedMS float64
	methods  map[string]*method
	whole    float64 // additional ms per repetition
}

// method is the calls of a method by anybody.
type method struct {
	now, before      []sample  // with all that it calls, those within itself once
	own, ownBefore   []float64 // time of its own code in each repetition
	positive, growth float64   // of that: of those callers by whom it grew, and of all
}

// newComparison compares an event of the head with that of the runs before, or where they have not
// traced it, its repetitions in which something went wrong with its others.
func newComparison(head run.Run, base []run.Run, event string) *comparison {
	const ofHead = -1
	c := &comparison{event: event, methods: map[string]*method{}}
	now, before := side(nil).add(head.MethodTraces, event, ofHead), side(nil)
	for i, b := range base {
		before = before.add(b.MethodTraces, event, i)
		c.missedMS = max(c.missedMS, b.MethodTraces.TreeLeftOutMS)
	}
	if len(before) == 0 {
		if anomalies, usual := now.split(); len(anomalies) > 0 {
			now, before, c.alone = anomalies, usual, len(usual) > 0
			c.missedMS = head.MethodTraces.TreeLeftOutMS
		}
	}
	c.forest = newForest(now, before)
	c.add(head, event, ofHead)
	for i, b := range base {
		c.add(b, event, i)
	}
	c.own = ownOf(head.App.Package, c.all)
	c.sum()
	return c
}

// sum adds up each method's calls, and attributes the additional time of its own code to the callers
// by whom it grew. What only has another caller now is not additional.
func (c *comparison) sum() {
	for _, n := range c.all {
		m := c.of(n)
		if !n.within() {
			add(m.now, n.now)
			add(m.before, n.before)
		} else {
			addCalls(m.now, n.now)
			addCalls(m.before, n.before)
		}
		now, before := n.self()
		grown := mean(now) - mean(before)
		addTimes(m.own, now)
		addTimes(m.ownBefore, before)
		m.growth += grown
		m.positive += max(grown, 0)
	}
	for i := len(c.all) - 1; i >= 0; i-- { // callees first
		n := c.all[i]
		now, before := n.self()
		if m := c.of(n); m.positive > 0 {
			n.own = max(mean(now)-mean(before), 0) * max(m.growth, 0) / m.positive
		}
		n.more += n.own
		n.parent.more += n.more
	}
}

func add(to, from []sample) {
	for i, s := range from {
		to[i].ms += s.ms
	}
	addCalls(to, from)
}

func addTimes(to, from []float64) {
	for i, ms := range from {
		to[i] += ms
	}
}

func addCalls(to, from []sample) {
	for i, s := range from {
		to[i].calls += s.calls
	}
}

// of returns a node's method.
func (c *comparison) of(n *node) *method {
	key := diagnose.Stable(n.name)
	if c.methods[key] == nil {
		c.methods[key] = &method{
			now: make([]sample, len(c.now)), before: make([]sample, len(c.before)),
			own: make([]float64, len(c.now)), ownBefore: make([]float64, len(c.before)),
		}
	}
	return c.methods[key]
}

// isNew reports whether a method was not called before. Where calls were left out of the trees, one
// that takes little may be among them.
func (c *comparison) isNew(m *method) bool {
	return mean(times(m.before)) == 0 && mean(counts(m.before)) == 0 && c.missedMS <= worth*mean(times(m.now))
}

// isOftener reports whether a method takes longer mainly because it is called more often.
func (c *comparison) isOftener(m *method) bool {
	now, before := mean(counts(m.now)), mean(counts(m.before))
	if before == 0 || !c.change(counts(m.now), counts(m.before)).stands() {
		return false
	}
	ms, msBefore := mean(times(m.now)), mean(times(m.before))
	return (now-before)*msBefore/before >= half*(ms-msBefore)
}

// estimate is a difference of means, and its error, scaled so that certain of it are as unlikely by
// chance as beyond.
type estimate struct{ mean, err float64 }

func (e estimate) stands() bool { return e.mean > 0 && e.mean >= certain*e.err }

// change returns how much larger a number is now. Repetitions of a run vary about its mean.
func (c *comparison) change(now, before []float64) estimate {
	a, b := mean(now), mean(before)
	drift := drifted
	if !c.repeats() {
		drift = unknown
	}
	out := estimate{a - b, drift * math.Hypot(a, b)}
	if c.repeats() {
		squares, freedom := c.now.scatter(now)
		squaresBefore, freedomBefore := c.before.scatter(before)
		freedom += freedomBefore
		within := (squares + squaresBefore) / freedom * (1/float64(len(now)) + 1/float64(len(before)))
		out.err = math.Hypot(math.Sqrt(within)*stat.Moments{SD: 1, N: math.Inf(1), DF: freedom}.Reach(beyond)/certain, out.err)
	}
	return out
}

// scatter returns how far values lie from their run's mean: the sum of squares and its degrees of
// freedom.
func (s side) scatter(values []float64) (squares, freedom float64) {
	sum, n := map[int]float64{}, map[int]float64{}
	for i, c := range s {
		sum[c.run] += values[i]
		n[c.run]++
	}
	for i, c := range s {
		off := values[i] - sum[c.run]/n[c.run]
		squares += off * off
	}
	return squares, float64(len(s) - len(n))
}

// repeats reports whether there are enough repetitions to show how much they vary.
func (c *comparison) repeats() bool {
	_, freedom := c.now.scatter(make([]float64, len(c.now)))
	_, freedomBefore := c.before.scatter(make([]float64, len(c.before)))
	return len(c.now) > 1 && freedom+freedomBefore >= leastFreedom
}

// settles reports whether they are enough to separate a change from chance.
func (c *comparison) settles() bool {
	ways := 1.0 // to choose the head's of all
	for i := range len(c.now) {
		ways *= float64(len(c.before)+i+1) / float64(i+1)
	}
	return c.repeats() && ways >= 1/byChance
}
