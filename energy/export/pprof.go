// Package export writes the energy of methods for other programs: pprof, and spreadsheets.
//
// It owns those two formats (docs/format/methods.md). It attributes nothing: package methods
// computes what a method takes, and pprof profiles add up to the same totals.
//
// A profile is of one iteration, the mean of all, so that two profiles can be subtracted whatever
// their numbers of iterations.
package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/pprof/profile"

	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/internal/pprofile"
)

// About is the description of a run in a profile.
type About struct {
	// App is the app's package. It stands for the file of all Java methods.
	App string
	// Measured is set if the power was read from a sensor, which may be slower than the methods
	// (methods.Options).
	Measured bool
	// Source is the source of the joules, as in run.Energy.Source; "" if there are none.
	Source string
}

// The sample types of a profile, in their order.
const (
	samplesType = iota // all iterations' samples
	cpuType            // nanoseconds of one iteration
	energyType         // microjoules of one iteration
	sampleTypes
)

// Pprof returns the profile of one iteration, the mean of all traces, which must be of one event:
// samples (count, of all iterations), cpu (nanoseconds) and energy (microjoules; pprof's default
// type). A sample is labelled with its thread and with the kind of the sampled code.
//
// The energy of a sample is its CPU time × the power attributed to it (methods.PowersOf). Samples
// without a known power get the mean of the others, as in the total of methods.Attribute.
func Pprof(traces []methods.Trace, about About) (*profile.Profile, error) {
	if len(traces) == 0 {
		return nil, errors.New("making a pprof profile: there is no trace")
	}
	b := newBuilder(about)
	powers := methods.PowersOf(traces, methods.Options{Measured: about.Measured})
	for i, t := range traces {
		if err := b.add(t, powers[i]); err != nil {
			return nil, fmt.Errorf("making a pprof profile of trace %d of %d: %w", i+1, len(traces), err)
		}
	}
	return b.profile(len(traces)), nil
}

// builder merges traces.
type builder struct {
	*pprofile.Builder
	about  About
	event  string
	hz     float64
	lost   uint64
	span   time.Duration     // of all traces
	stacks map[string]*stack // by key
	order  []*stack
	key    []byte
	// powered is the seconds with a known power, joules their energy.
	powered, joules float64
}

// stack is all samples with one call chain, thread name and kind.
type stack struct {
	locations    []*profile.Location
	thread, kind string
	samples      int64
	seconds      float64
	joules       float64
	unpowered    float64 // seconds
}

func newBuilder(about About) *builder {
	return &builder{Builder: pprofile.New(about.App), about: about, stacks: map[string]*stack{}}
}

// add counts the samples of a trace.
func (b *builder) add(t methods.Trace, powers []float64) error {
	b.lost += t.Lost
	if len(t.Samples) == 0 {
		return nil
	}
	if b.event == "" {
		b.event, b.hz = t.Event, t.Hz
	}
	if b.event != t.Event {
		return fmt.Errorf("it is of the event %q, an earlier one of %q: want one event", t.Event, b.event)
	}
	b.span += t.Samples[len(t.Samples)-1].Time - t.Samples[0].Time
	locations := make([]*profile.Location, len(t.Frames))
	for i, f := range t.Frames {
		locations[i] = b.Location(pprofile.Frame{Name: f.Name, File: f.File, Line: f.Line, Mapping: f.File})
	}
	for i, s := range t.Samples {
		st := b.stack(t, s, locations)
		seconds := s.Period.Seconds()
		st.samples++
		st.seconds += seconds
		if s.Reading < 0 {
			st.unpowered += seconds
			continue
		}
		st.joules += seconds * powers[i]
		b.powered += seconds
		b.joules += seconds * powers[i]
	}
	return nil
}

// stack returns the stack to which a sample counts.
func (b *builder) stack(t methods.Trace, s methods.Sample, locations []*profile.Location) *stack {
	thread, kind := t.Threads[s.Thread].Name, string(t.Frames[s.Chain[0]].Kind)
	b.key = append(append(append(append(b.key[:0], thread...), 0), kind...), 0)
	for _, f := range s.Chain {
		b.key = binary.AppendUvarint(b.key, locations[f].ID)
	}
	st, ok := b.stacks[string(b.key)]
	if !ok {
		st = &stack{thread: thread, kind: kind, locations: make([]*profile.Location, len(s.Chain))}
		for i, f := range s.Chain {
			st.locations[i] = locations[f]
		}
		b.stacks[string(b.key)] = st
		b.order = append(b.order, st)
	}
	return st
}

// profile divides the totals by the number of iterations.
func (b *builder) profile(iterations int) *profile.Profile {
	n := float64(iterations)
	mean := 0.0
	if b.powered > 0 {
		mean = b.joules / b.powered
	}
	for _, st := range b.order {
		s := &profile.Sample{Location: st.locations, Label: map[string][]string{"kind": {st.kind}}, Value: make([]int64, sampleTypes)}
		if st.thread != "" {
			s.Label["thread"] = []string{st.thread}
		}
		s.Value[samplesType] = st.samples
		s.Value[cpuType] = whole(st.seconds / n * 1e9)
		s.Value[energyType] = whole((st.joules + st.unpowered*mean) / n * 1e6)
		b.Profile.Sample = append(b.Profile.Sample, s)
	}
	b.Profile.SampleType = []*profile.ValueType{
		samplesType: {Type: "samples", Unit: "count"},
		cpuType:     {Type: "cpu", Unit: "nanoseconds"},
		energyType:  {Type: "energy", Unit: "microjoules"},
	}
	b.Profile.DefaultSampleType = "cpu"
	if b.powered > 0 {
		b.Profile.DefaultSampleType = "energy"
	}
	b.Profile.PeriodType = &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	if b.hz > 0 {
		b.Profile.Period = whole(1e9 / b.hz)
	}
	b.Profile.DurationNanos = int64(b.span) / int64(iterations)
	b.Profile.Comments = b.comments(iterations)
	return b.Profile
}

func (b *builder) comments(iterations int) []string {
	out := []string{
		fmt.Sprintf("cpu and energy are of one iteration, the mean of %d; samples are of all of them", iterations),
		fmt.Sprintf("sampled: %s; samples lost: %d", b.event, b.lost),
	}
	if b.powered > 0 {
		out = append(out, "energy from: "+b.about.Source)
	}
	return out
}

// whole rounds to what a profile can store.
func whole(v float64) int64 {
	return int64(math.Round(min(max(v, 0), math.MaxInt64/1024)))
}
