package methods

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Options are the parameters of Attribute.
type Options struct {
	// Level is the confidence of the intervals; 0 means 0.95.
	Level float64
	// Measured is set if power was read from a sensor, so that few readings leave it uncertain.
	// Modelled power has no such uncertainty.
	Measured bool
	// AsRead attributes to methods the power that the sensor reported at their samples, as EDATA
	// does, even if the sensor is slower than the methods. Otherwise their power is separated if
	// Measured is set (see split).
	AsRead bool
	// CountedCPU is the app's CPU time in each trace as the kernel counted it, from /proc/PID/stat
	// or batterystats; nil or 0 if unknown.
	CountedCPU []time.Duration
}

// Attribute computes the CPU time and energy of every method from the traces of a run's iterations,
// which must be of one event (EDATA, section 3.5.2):
//
//	p̂ = n_method / n                  (3.5)
//	t̂ = p̂ · t_exec                    (3.6)
//	pow = mean of the samples' power  (3.7)
//	ê = pow · t̂                       (3.8)
//
// Samples are weighted by their periods, so that the equations hold where periods differ; for equal
// periods, as in a recording of task-clock, they are the paper's. Samples without a known power
// count for time but not for pow; for a method with no others, pow is that of all samples.
//
// A sample is local to the innermost method of its chain, and non-local once to each other method
// in it, however often the method occurs there.
//
// The paper treats the app as one thread. Here threads that run at once share the device's power
// (see Powers): otherwise two busy threads would each be attributed all of it, and the methods more
// energy than the battery supplied.
//
// Basis and estimator document what an interval covers and what it is derived from.
func Attribute(traces []Trace, o Options) (Result, error) {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if err := check(traces, o); err != nil {
		return Result{}, fmt.Errorf("attributing energy to methods: %w", err)
	}
	traces = inOrder(traces)
	read := attributed(traces, o, nil)
	if !o.Measured || o.AsRead {
		return read.result(o, traces), nil
	}
	split := splitOf(traces, read.ids, len(read.methods))
	if split == nil {
		return read.result(o, traces), nil
	}
	r := attributed(traces, o, split).result(o, traces)
	r.Power = run.PowerSplit
	r.addRead(read.result(o, traces))
	return r, nil
}

// attributed counts all samples, with the power as read or as separated.
func attributed(traces []Trace, o Options, split *split) *attribution {
	a := &attribution{plan: planBatches(traces, o), byKey: map[methodKey]int{}, tree: tree{children: map[edge]int{}}}
	a.plan.split = split
	if o.Measured {
		a.updateMS = float64(update(traces)) / float64(time.Millisecond)
	}
	for _, t := range traces {
		a.ids = append(a.ids, a.idsOf(t))
	}
	for i, t := range traces {
		a.add(i, t)
	}
	return a
}

// addRead adds the joules as read for the same samples.
func (r *Result) addRead(read Result) {
	r.ReadJ = read.EnergyJ
	of := map[methodKey]Method{}
	for _, m := range read.Methods {
		of[methodKey{m.Name, m.File}] = m
	}
	for i := range r.Methods {
		m := &r.Methods[i]
		same := of[methodKey{m.Name, m.File}]
		m.Local.ReadJ, m.NonLocal.ReadJ = same.Local.EnergyJ, same.NonLocal.EnergyJ
	}
	for i := range r.Calls { // both trees are of the same samples in the same order
		r.Calls[i].ReadJ = read.Calls[i].EnergyJ
	}
}

func check(traces []Trace, o Options) error {
	if !(o.Level > 0 && o.Level < 1) {
		return fmt.Errorf("the level of confidence is %g, want more than 0 and less than 1", o.Level)
	}
	if len(traces) == 0 {
		return errors.New("there is no trace")
	}
	if n := len(o.CountedCPU); n > 0 && n != len(traces) {
		return fmt.Errorf("there are %d counted CPU times and %d traces, want one for each", n, len(traces))
	}
	event, _ := eventOf(traces)
	for i, t := range traces {
		if len(t.Samples) > 0 && t.Event != event {
			return fmt.Errorf("trace %d is of the event %s, an earlier one of %s", i+1, t.Event, event)
		}
	}
	return nil
}

// eventOf returns the event of the first trace that has samples, and its rate.
func eventOf(traces []Trace) (event string, hz float64) {
	for _, t := range traces {
		if len(t.Samples) > 0 {
			return t.Event, t.Hz
		}
	}
	return traces[0].Event, traces[0].Hz
}

// inOrder returns the traces with their samples in chronological order.
func inOrder(traces []Trace) []Trace {
	byTime := func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) }
	out := slices.Clone(traces)
	for i, t := range out {
		if !slices.IsSortedFunc(t.Samples, byTime) {
			out[i].Samples = slices.Clone(t.Samples)
			slices.SortStableFunc(out[i].Samples, byTime)
		}
	}
	return out
}

type methodKey struct{ name, file string }

// method accumulates the samples of a method.
type method struct {
	key             methodKey
	kinds           []kindCount
	local, nonLocal tally
	stretches       int // in its own code or in its callees
	last            int // the last sample with the method, the first is 1
}

// attribution counts samples.
type attribution struct {
	plan     *plan
	byKey    map[methodKey]int
	ids      [][]int // of each trace's frames
	methods  []method
	tree     tree
	total    tally // of all samples
	readings int
	updateMS float64 // of the sensor; 0 if there is none
	threads  int
	lonely   int // threads with one sample
}

// add counts one trace's samples.
func (a *attribution) add(number int, t Trace) {
	ids := a.ids[number]
	watts := Powers(t)
	running := concurrency(t)
	st := newStretches(len(a.methods))
	hits := map[int]int{} // by thread
	reading := -1
	for i, s := range t.Samples {
		hits[t.Threads[s.Thread].TID]++
		h := hit{batch: a.plan.spans[number].at(s.Time), seconds: s.Period.Seconds()}
		if s.Reading >= 0 {
			if s.Reading != reading {
				a.readings, reading = a.readings+1, s.Reading
			}
			h.known, h.reading, h.joules = true, a.readings, h.seconds*watts[i]
			if a.plan.split != nil {
				beside := running(s.Time)
				h.method, h.floor = ids[s.Chain[0]], h.seconds/beside
				h.joules = h.seconds * a.plan.split.watts(number, s.Time, h.method, beside)
			}
			a.plan.known[h.batch] += h.seconds
			a.plan.joules[h.batch] += h.joules
		}
		a.total.add(h, a.plan)
		a.count(t, s, ids, h, st)
		a.tree.add(s.Chain, ids, t.Frames, h)
	}
	a.threads += len(hits)
	for _, n := range hits {
		if n == 1 {
			a.lonely++
		}
	}
}

// count adds one sample to the methods of its chain, once to each.
func (a *attribution) count(t Trace, s Sample, ids []int, h hit, st *stretches) {
	own, went := st.step(s, ids)
	for depth, frame := range s.Chain {
		m := &a.methods[ids[frame]]
		if m.last == a.total.samples {
			continue
		}
		m.last = a.total.samples
		if !went(ids[frame]) {
			m.stretches++
		}
		if depth == 0 {
			if !own {
				m.local.stretches++
			}
			m.local.add(h, a.plan)
		} else {
			m.nonLocal.add(h, a.plan)
		}
		m.ran(t.Frames[frame].Kind)
	}
}

// idsOf returns the ids of a trace's frames.
func (a *attribution) idsOf(t Trace) []int {
	ids := make([]int, len(t.Frames))
	for i, f := range t.Frames {
		ids[i] = a.id(methodKey{f.Name, f.File})
	}
	return ids
}

func (a *attribution) id(k methodKey) int {
	id, ok := a.byKey[k]
	if !ok {
		id = len(a.methods)
		a.byKey[k] = id
		a.methods = append(a.methods, method{key: k})
	}
	return id
}

// result computes every method's estimates.
func (a *attribution) result(o Options, traces []Trace) Result {
	level, iterations := o.Level, len(traces)
	a.total.flush(a.plan)
	e := estimator{plan: a.plan, total: &a.total, level: level, iterations: float64(iterations), lasting: lasting(a.plan), updateMS: a.updateMS, quantiles: map[float64]float64{}}
	r := Result{Level: level, Iterations: iterations, Samples: a.total.samples, Basis: a.plan.basis, Batches: a.plan.n}
	r.CPUMS, r.EnergyJ = e.totals()
	local := a.costs(e, func(m *method) (*tally, float64, int) { return &m.local, m.local.seconds, m.local.stretches })
	nonLocal := a.costs(e, func(m *method) (*tally, float64, int) {
		return &m.nonLocal, m.local.seconds + m.nonLocal.seconds, m.stretches
	})
	for i, m := range a.methods {
		if m.last == 0 {
			continue
		}
		r.Methods = append(r.Methods, Method{
			Name: m.key.name, File: m.key.file, Kind: m.kind(), Local: local[i], NonLocal: nonLocal[i],
		})
	}
	rank(r.Methods)
	r.Calls = a.calls(float64(iterations))
	r.Event, r.Hz = eventOf(traces)
	r.Warnings = a.doubts(traces, o)
	return r
}

// costs computes the estimates of one tally of each method, which share a pooled spread.
func (a *attribution) costs(e estimator, of func(*method) (c *tally, ran float64, stretches int)) []Cost {
	tallies := make([]*tally, len(a.methods))
	for i := range a.methods {
		tallies[i], _, _ = of(&a.methods[i])
		tallies[i].flush(a.plan)
	}
	e.effect = e.pooledEffect(tallies)
	out := make([]Cost, len(tallies))
	for i := range tallies {
		out[i] = e.cost(of(&a.methods[i]))
	}
	return out
}
