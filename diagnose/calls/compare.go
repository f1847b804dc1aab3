package calls

import (
	"math"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// The least that is named.
const (
	worth   = 0.1 // of all additional time that a cause must explain
	leastMS = 1.0 // per repetition that it must cost
	half    = 0.5 // of a cause's time that has to be of one thing
	// unknown takes the place of contrast.Drifted where there are too few repetitions to show how
	// much they vary: a time has to be four times as long.
	unknown = 0.25
	// beyond is the chance, for one method, of a time that is contrast.Certain errors off: that of
	// four standard errors of a normal distribution, since a trace has a thousand methods.
	beyond = 3.17e-5
)

// comparison is what the main thread did in an event, and before.
type comparison struct {
	*forest
	head  run.Run
	base  []run.Run
	event string
	own   func(method string) bool
	heads int // columns of the head, which are the first ones
	// alone is set where the head's repetitions in which something went wrong are compared with its
	// own others.
	alone bool
	// missedMS bounds the time before of what its trees left out.
	missedMS float64
	whole    float64 // additional ms per repetition
}

// newComparison compares an event of the head with that of the runs before, or where they have not
// traced it, its repetitions in which something went wrong with its others.
func newComparison(head run.Run, base []run.Run, event string, names stableNames) *comparison {
	c := &comparison{head: head, base: base, event: event}
	columns := columnsOf(head.MethodTraces, event, ofHead)
	c.heads = len(columns)
	for i, b := range base {
		columns = append(columns, columnsOf(b.MethodTraces, event, i)...)
		c.missedMS = max(c.missedMS, b.MethodTraces.TreeLeftOutMS)
	}
	if len(columns) == c.heads {
		columns = c.anomaliesFirst(columns)
	}
	c.forest = newForest(columns, names)
	c.add(head, event, ofHead)
	for i, b := range base {
		c.add(b, event, i)
	}
	c.own = c.ownOf(head)
	c.sum()
	c.attribute()
	return c
}

// anomaliesFirst compares the head's repetitions in which something went wrong with its others, if
// there are any.
func (c *comparison) anomaliesFirst(columns []column) []column {
	var wrong, usual []column
	for _, col := range columns {
		if col.anomaly {
			wrong = append(wrong, col)
		} else {
			usual = append(usual, col)
		}
	}
	if len(wrong) == 0 {
		return columns
	}
	c.heads, c.alone, c.missedMS = len(wrong), len(usual) > 0, c.head.MethodTraces.TreeLeftOutMS
	return append(wrong, usual...)
}

// now and before are the repetitions of both sides.
func (c *comparison) now() []column    { return c.columns[:c.heads] }
func (c *comparison) before() []column { return c.columns[c.heads:] }

// compares reports whether there is something to compare.
func (c *comparison) compares() bool { return len(c.now()) > 0 && len(c.before()) > 0 }

// means returns the means of both sides.
func (c *comparison) means(values []float64) (now, before float64) {
	return contrast.Mean(values[:c.heads]), contrast.Mean(values[c.heads:])
}

// grown returns how much larger the mean is now.
func (c *comparison) grown(values []float64) float64 {
	now, before := c.means(values)
	return now - before
}

// attribute attributes the additional time of each method's own code to the callers by whom it grew.
// What only has another caller now is not additional.
func (c *comparison) attribute() {
	for _, n := range c.all {
		n.grown = c.grown(n.own)
		n.method.growth += n.grown
		n.method.positive += max(n.grown, 0)
	}
	for i := len(c.all) - 1; i >= 0; i-- { // callees first
		n := c.all[i]
		if n.grown = max(n.grown, 0); n.grown > 0 {
			n.grown *= max(n.method.growth, 0) / n.method.positive
		}
		n.more += n.grown
		n.parent.more += n.more
	}
}

// isNew reports whether a method was not called before. Where calls were left out of the trees, one
// that takes little may be among them.
func (c *comparison) isNew(m *method) bool {
	now, before := c.means(m.ms)
	_, called := c.means(m.calls)
	return before == 0 && called == 0 && c.missedMS <= worth*now
}

// isOftener reports whether a method takes longer mainly because it is called more often.
func (c *comparison) isOftener(m *method) bool {
	now, before := c.means(m.calls)
	if before == 0 || !c.change(m.calls).Stands() {
		return false
	}
	ms, msBefore := c.means(m.ms)
	return (now-before)*msBefore/before >= half*(ms-msBefore)
}

// change returns how much larger a number is now.
func (c *comparison) change(values []float64) contrast.Estimate {
	now, before := c.means(values)
	out := contrast.Estimate{Mean: now - before, Err: unknown * math.Hypot(now, before)}
	if c.repeats() {
		a, b := scatter(c.now(), values[:c.heads]), scatter(c.before(), values[c.heads:])
		out.Err = math.Hypot(a.Error(b, beyond), contrast.Drifted*math.Hypot(now, before))
	}
	return out
}

// scatter returns how far values lie from their run's mean.
func scatter(columns []column, values []float64) (out contrast.Scatter) {
	for from := 0; from < len(columns); {
		to := from
		for to < len(columns) && columns[to].run == columns[from].run {
			to++
		}
		out.Add(values[from:to])
		from = to
	}
	return out
}

// scatters returns how many repetitions there are, now and before.
func (c *comparison) scatters() (now, before contrast.Scatter) {
	return scatter(c.now(), make([]float64, len(c.now()))), scatter(c.before(), make([]float64, len(c.before())))
}

// repeats reports whether there are enough repetitions to show how much they vary.
func (c *comparison) repeats() bool {
	now, before := c.scatters()
	return c.heads > 1 && now.Varies(before)
}

// settles reports whether they are enough to separate a change from chance.
func (c *comparison) settles() bool {
	now, before := c.scatters()
	return c.heads > 1 && now.Settles(before)
}

// partial reports whether much less of a repetition was traced before: what is missing there may
// only not have been traced.
func (c *comparison) partial() bool {
	_, now := traced(c.now())
	_, before := traced(c.before())
	return before < half*now
}

// renamed reports whether most of the app's methods before have other names now, as R8 gives them to
// builds whose mapping is unknown.
func (c *comparison) renamed() bool {
	const few = 10
	had, kept := 0, 0
	for key, m := range c.methods {
		now, before := c.means(m.ms)
		if before > 0 && !diagnose.Platform(key) {
			had++
			if now > 0 {
				kept++
			}
		}
	}
	return had >= few && 2*kept < had
}
