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
	p         *profile.Profile
	about     About
	event     string
	hz        float64
	lost      uint64
	span      time.Duration // of all traces
	mappings  map[string]*profile.Mapping
	functions map[function]*profile.Function
	locations map[place]*profile.Location
	stacks    map[string]*stack // by key
	order     []*stack
	key       []byte
	// powered is the seconds with a known power, joules their energy.
	powered, joules float64
}

// function identifies a method: two frames with the same one are the same method.
type function struct{ name, file string }

type place struct {
	function
	line int
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
	b := &builder{
		p: &profile.Profile{}, about: about,
		mappings: map[string]*profile.Mapping{}, functions: map[function]*profile.Function{},
		locations: map[place]*profile.Location{}, stacks: map[string]*stack{},
	}
	// pprof takes the first mapping for the program.
	b.mapping("")
	return b
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
		locations[i] = b.location(f)
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

func (b *builder) location(f methods.Frame) *profile.Location {
	key := place{function{f.Name, f.File}, f.Line}
	l, ok := b.locations[key]
	if !ok {
		l = &profile.Location{
			ID: uint64(len(b.p.Location)) + 1, Mapping: b.mapping(f.File),
			Line: []profile.Line{{Function: b.function(key.function), Line: int64(f.Line)}},
		}
		b.locations[key] = l
		b.p.Location = append(b.p.Location, l)
	}
	return l
}

func (b *builder) function(key function) *profile.Function {
	f, ok := b.functions[key]
	if !ok {
		f = &profile.Function{ID: uint64(len(b.p.Function)) + 1, Name: key.name, SystemName: key.name, Filename: key.file}
		b.functions[key] = f
		b.p.Function = append(b.p.Function, f)
	}
	return f
}

// mapping returns the mapping of a frame's file; "" is the app.
func (b *builder) mapping(file string) *profile.Mapping {
	if file == "" {
		file = b.about.App
	}
	if file == "" {
		file = "app"
	}
	m, ok := b.mappings[file]
	if !ok {
		m = &profile.Mapping{ID: uint64(len(b.p.Mapping)) + 1, File: file, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
		b.mappings[file] = m
		b.p.Mapping = append(b.p.Mapping, m)
	}
	return m
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
		b.p.Sample = append(b.p.Sample, s)
	}
	b.p.SampleType = []*profile.ValueType{
		samplesType: {Type: "samples", Unit: "count"},
		cpuType:     {Type: "cpu", Unit: "nanoseconds"},
		energyType:  {Type: "energy", Unit: "microjoules"},
	}
	b.p.DefaultSampleType = "cpu"
	if b.powered > 0 {
		b.p.DefaultSampleType = "energy"
	}
	b.p.PeriodType = &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	if b.hz > 0 {
		b.p.Period = whole(1e9 / b.hz)
	}
	b.p.DurationNanos = int64(b.span) / int64(iterations)
	b.p.Comments = b.comments(iterations)
	return b.p
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
