package powerdata

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Read reads a trace packet by packet. For a truncated file it returns what was complete, for a
// file that is no trace an empty Trace, both with a warning. It returns an error if reading r
// fails, or for a file of more than MaxFile bytes.
func Read(r io.Reader) (*Trace, error) {
	d := &decoder{
		File:      packets.New(),
		rails:     rails{byIndex: map[railKey]int{}},
		consumers: consumers{byID: map[consumerKey]int{}},
		residency: residency{names: map[stateKey][2]string{}, byName: map[stateKey]int{}},
		uidTimes:  uidTimes{places: map[uidKey]int{}, last: map[sequenceKey]*uidState{}},
		machines:  map[uint32]*machine{},
	}
	if err := d.Read(r, d); err != nil {
		return nil, err
	}
	return d.trace(), nil
}

// decoder reads the energy data of one trace.
type decoder struct {
	*packets.File

	rails     rails
	battery   []stamped[BatterySample]
	consumers consumers
	residency residency
	uidTimes  uidTimes
	machines  map[uint32]*machine
}

// stamped is a reading with its time before the conversion to one clock.
type stamped[T any] struct {
	at    packets.Stamp
	value T
}

// Wants returns the packets about energy or CPU use.
func (d *decoder) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{
		field.PacketFtraceEvents, field.PacketProcessTree, field.PacketBattery, field.PacketPowerRails,
		field.PacketAndroidEnergyEstimationBreakdown, field.PacketEntityStateResidency, field.PacketAndroidSystemProperty, field.PacketCPUPerUIDData,
	}}
}

// Packet reads the useful parts of a packet.
func (d *decoder) Packet(p packets.Packet) {
	switch p.Kind {
	case field.PacketFtraceEvents:
		if m := d.machine(p.Machine); m != nil {
			if k := m.source(d, p.Seq.ID); k != nil {
				k.bundle(d, p.Data, p.Machine)
			}
		}
	case field.PacketProcessTree:
		if m := d.machine(p.Machine); m != nil {
			m.roster.Tree(p.Data)
		}
	case field.PacketBattery:
		d.readBattery(p, p.At)
	case field.PacketPowerRails:
		d.rails.read(d, p, p.At)
	case field.PacketAndroidEnergyEstimationBreakdown:
		d.consumers.read(d, p, p.At)
	case field.PacketEntityStateResidency:
		d.residency.read(d, p, p.At)
	case field.PacketAndroidSystemProperty:
		if m := d.machine(p.Machine); m != nil {
			m.states.properties(d, p.Data, p.At)
		}
	case field.PacketCPUPerUIDData:
		d.uidTimes.read(d, p, p.At)
	}
}

// trace assembles the result on one clock.
func (d *decoder) trace() *Trace {
	t := &Trace{Packets: d.Counts(), Lost: d.Lost}
	switch v := d.Clocks.Target(d.Home); {
	case len(t.Packets) == 0:
	case v == nil:
		d.Warnings.Addf(0, "the trace has more than %d clocks, and those of machine %d are not among the first: no reading is used", packets.MaxClocks, d.Home)
	default:
		d.place(t, v)
		d.doubtClocks(t, v)
	}
	d.doubts()
	t.Warnings = d.Warnings.List()
	return t
}

func (d *decoder) place(t *Trace, v *packets.Conversion) {
	t.Clock = d.Clocks.Name(v.Target)
	t.Start, t.End = d.Clocks.Span(v)
	t.Suspended = d.Clocks.Suspended(d.Home)
	t.Rails = d.rails.place(v)
	t.Battery = placed(v, d.battery, func(s *BatterySample, at time.Duration) { s.Time = at })
	t.Consumers = d.consumers.place(v)
	t.Residency = d.residency.place(v)
	t.UIDTimes = d.uidTimes.place(v, d.Home)
	if m := d.machines[d.Home]; m != nil {
		m.place(d, t, v)
	}
}

// placed converts readings to the target clock, in chronological order. Those that can't be
// converted are left out. It reuses in.
func placed[T any](v *packets.Conversion, in []stamped[T], set func(*T, time.Duration)) []T {
	if len(in) == 0 {
		return nil
	}
	kept := in[:0]
	for _, s := range in {
		if at, ok := v.Time(s.at); ok {
			kept = append(kept, stamped[T]{packets.Stamp{Clock: v.Target, NS: int64(at)}, s.value})
		}
	}
	slices.SortStableFunc(kept, func(a, b stamped[T]) int { return cmp.Compare(a.at.NS, b.at.NS) })
	out := make([]T, len(kept))
	for i, s := range kept {
		out[i] = s.value
		set(&out[i], time.Duration(s.at.NS))
	}
	return out
}

// doubtClocks warns of times that could not be converted.
func (d *decoder) doubtClocks(t *Trace, v *packets.Conversion) {
	const most = 10
	if n := v.Failed[-1]; n > 0 {
		d.Warnings.Counted(0, n,
			"%d reading has no valid time: it is left out",
			"%d readings have no valid time: they are left out")
		delete(v.Failed, -1)
	}
	others := 0
	for i, at := range slices.Sorted(maps.Keys(v.Failed)) {
		if i >= most {
			others += v.Failed[at]
			continue
		}
		d.Warnings.Counted(0, v.Failed[at],
			"%d reading is on %s, from which nothing leads to %s: it is left out",
			"%d readings are on %s, from which nothing leads to %s: they are left out", d.Clocks.Of(at), t.Clock)
	}
	if others > 0 {
		d.Warnings.Addf(0, "%d readings on %d more clocks are left out for the same reason", others, len(v.Failed)-most)
	}
	if t.Clock != packets.Monotonic && d.measured() {
		d.Warnings.Addf(0, "no snapshot of clocks leads to CLOCK_MONOTONIC: times are on %s", t.Clock)
	}
	if d.Clocks.Refused > 0 {
		d.Warnings.Addf(0, "the trace has more than %d clocks: %d times on others are not used", packets.MaxClocks, d.Clocks.Refused)
	}
	if d.Clocks.Dropped > 0 {
		d.Warnings.Counted(0, d.Clocks.Dropped,
			"%d snapshot of clocks beyond the first %d is not used",
			"%d snapshots of clocks beyond the first %d are not used", packets.MaxSnapshots)
	}
}

// measured reports whether the trace has readings whose times matter.
func (d *decoder) measured() bool {
	return len(d.rails.list) > 0 || len(d.battery) > 0 || len(d.consumers.list) > 0
}

// doubts warns of what was lost or left out.
func (d *decoder) doubts() {
	say := func(n int, one, many string) { d.Warnings.Counted(0, n, one, many) }
	say(d.Broken,
		"%d packet ends in the middle of a field: the fields before it are read",
		"%d packets end in the middle of a field: the fields before it are read")
	say(d.Unusable,
		"%d packet needs the state in a lost one: it is skipped",
		"%d packets need the state in a lost one: they are skipped")
	say(d.Lost,
		"packets were lost in %d place: a buffer of the trace was too small",
		"packets were lost in %d places: a buffer of the trace was too small")
	d.doubtMachines()
	say(d.rails.unknown,
		"%d reading is of a power rail that the trace does not describe: it is left out",
		"%d readings are of a power rail that the trace does not describe: they are left out")
	say(d.rails.malformed+d.consumers.malformed,
		"%d reading of energy has no rail or no value: it is left out",
		"%d readings of energy have no rail or no value: they are left out")
	say(d.residency.unknown,
		"%d time in a power state is of a state that the trace does not describe: it is left out",
		"%d times in a power state are of a state that the trace does not describe: they are left out")
	for _, kind := range slices.Sorted(maps.Keys(d.TooMany)) {
		d.Warnings.Addf(0, "the trace has more %s than are kept: %d are left out", kind, d.TooMany[kind])
	}
}
