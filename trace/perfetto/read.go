package perfetto

import (
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace"
)

// Read reads a trace packet by packet. A file that is cut short gives what was
// whole, one that is no trace gives an empty Trace, both with a warning. The
// error is for reading r, or for a file of more than MaxFile bytes.
func Read(r io.Reader) (*Trace, error) {
	d := &decoder{
		packets:   map[protowire.Number]int{},
		clocks:    clocks{primary: map[uint32]uint32{}},
		sequences: map[sequenceKey]*sequence{},
		latest:    noStamp,
		home:      math.MaxUint32,
		tooMany:   map[string]int{},
		rails:     rails{byIndex: map[railKey]int{}},
		consumers: consumers{byID: map[consumerKey]int{}},
		residency: residency{names: map[stateKey][2]string{}, byName: map[stateKey]int{}},
		uidTimes:  uidTimes{places: map[uidKey]int{}},
		machines:  map[uint32]*machine{},
	}
	d.stream = newStream(r, &d.warnings)
	defer d.stream.close()
	if err := d.stream.each(d.bundle); err != nil {
		return nil, err
	}
	return d.trace(), nil
}

// decoder reads one trace.
type decoder struct {
	stream    *stream
	warnings  trace.Warnings
	tooMany   map[string]int // what was not kept, by kind
	packets   map[protowire.Number]int
	broken    int // packets that end in the middle of a field
	lost      int
	unusable  int // packets that need a state which was lost
	clocks    clocks
	sequences map[sequenceKey]*sequence
	latest    stamp
	home      uint32 // the machine that the trace is of, the least that has packets

	rails     rails
	battery   []stamped[BatterySample]
	consumers consumers
	residency residency
	uidTimes  uidTimes
	machines  map[uint32]*machine
}

type sequenceKey struct{ machine, sequence uint32 }

// sequence is the state of one writer's packets.
type sequence struct {
	clockID uint32 // for packets that don't say
	known   bool   // a packet was seen
	valid   bool   // no packet is missing since the state began
	uids    *uidState
}

// stamped is a reading with its time, before that is brought to one clock.
type stamped[T any] struct {
	at    stamp
	value T
}

// bundle reads a packet of the file, which may hold compressed ones.
func (d *decoder) bundle(message []byte) {
	p := d.frame(message)
	if p.kind != fieldZlib && p.kind != fieldZstd {
		d.read(p)
		return
	}
	d.stream.unpack(p.kind, p.data, func(inner []byte) {
		p := d.frame(inner)
		if p.kind == fieldZlib || p.kind == fieldZstd {
			d.broken++
			return
		}
		d.read(p)
	})
}

func (d *decoder) frame(message []byte) packet {
	p, whole := packetOf(message)
	if !whole {
		d.broken++
	}
	d.packets[p.kind]++
	if p.kind != 0 && p.kind != fieldZlib && p.kind != fieldZstd {
		d.home = min(d.home, p.machine)
	}
	return p
}

// read takes from a packet what is of use. The order is the format's: state
// first, then the clocks, then the timestamp, then what it holds.
func (d *decoder) read(p packet) {
	seq := d.sequence(p)
	switch p.kind {
	case fieldClockSnapshot:
		d.clocks.addSnapshot(p.data, p.machine, p.sequence)
		return
	case fieldRemoteClocks:
		d.clocks.addRemote(p.data, p.machine)
		return
	}
	if p.needsState && !seq.valid {
		d.unusable++
		return
	}
	at := d.latest
	if p.timed {
		id := p.clockID
		if id == 0 {
			id = seq.clockID
		}
		at = d.clocks.stamp(keyOf(p.machine, p.sequence, id), p.timestamp)
		d.latest = at
	}
	switch p.kind {
	case fieldFtrace:
		if m := d.machine(p.machine); m != nil {
			if k := m.source(d, p.sequence); k != nil {
				k.bundle(d, p.data, p.machine)
			}
		}
	case fieldProcessTree:
		if m := d.machine(p.machine); m != nil {
			m.tree(d, p.data)
		}
	case fieldBattery:
		d.readBattery(p, at)
	case fieldPowerRails:
		d.rails.read(d, p, at)
	case fieldConsumers:
		d.consumers.read(d, p, at)
	case fieldResidency:
		d.residency.read(d, p, at)
	case fieldProperties:
		if m := d.machine(p.machine); m != nil {
			m.states.properties(d, p.data, at)
		}
	case fieldUIDTimes:
		if seq.uids == nil {
			seq.uids = &uidState{last: map[uidKey]uint64{}}
		}
		d.uidTimes.read(d, p, at, seq.uids)
	}
}

// sequence is the state of a packet's sequence, as it is for the packet.
func (d *decoder) sequence(p packet) *sequence {
	key := sequenceKey{p.machine, p.sequence}
	seq, ok := d.sequences[key]
	if !ok {
		seq = &sequence{}
		if len(d.sequences) < maxSequences {
			d.sequences[key] = seq
		} else {
			d.tooMany["sequences"]++
		}
	}
	if p.dropped {
		seq.valid = false
		if seq.known { // the first packet always says so
			d.lost++
		}
	}
	if p.cleared {
		seq.valid, seq.clockID, seq.uids = true, 0, nil
	}
	seq.known = true
	if p.defaults == nil {
		return seq
	}
	seq.clockID = 0
	f := fieldsOf(p.defaults)
	for f.next() {
		if f.number == fieldClockID {
			seq.clockID = uint32(f.value)
		}
	}
	return seq
}

// room reports whether one more of a kind may be kept.
func (d *decoder) room(kind string, have, most int) bool {
	if have < most {
		return true
	}
	d.tooMany[kind]++
	return false
}

// trace puts together what was read, on one clock.
func (d *decoder) trace() *Trace {
	t := &Trace{Packets: map[string]int{}, Lost: d.lost}
	for kind, n := range d.packets {
		name := kindName(kind)
		if name == "" {
			name = "other"
		}
		t.Packets[name] += n
	}
	switch v := d.clocks.target(d.home); {
	case len(d.packets) == 0:
	case v == nil:
		d.warnings.Addf(0, "the trace has more than %d clocks, and those of machine %d are not among the first: no reading is used", maxClocks, d.home)
	default:
		d.place(t, v)
		d.doubtClocks(t, v)
	}
	d.doubts()
	t.Warnings = d.warnings.List()
	return t
}

func (d *decoder) place(t *Trace, v *conversion) {
	t.Clock = d.clocks.list[v.target].key.name()
	t.Start, t.End = d.clocks.span(v)
	t.Suspended = d.clocks.suspended(d.home)
	t.Rails = d.rails.place(v)
	t.Battery = placed(v, d.battery, func(s *BatterySample, at time.Duration) { s.Time = at })
	t.Consumers = d.consumers.place(v)
	t.Residency = d.residency.place(v)
	t.UIDTimes = d.uidTimes.place(v, d.home)
	if m := d.machines[d.home]; m != nil {
		m.place(d, t, v)
	}
}

// placed brings readings to the clock of the conversion, in the order of time.
// Those that can't be brought there are left out. It uses in up.
func placed[T any](v *conversion, in []stamped[T], set func(*T, time.Duration)) []T {
	if len(in) == 0 {
		return nil
	}
	kept := in[:0]
	for _, s := range in {
		if at, ok := v.time(s.at); ok {
			kept = append(kept, stamped[T]{stamp{v.target, int64(at)}, s.value})
		}
	}
	slices.SortStableFunc(kept, func(a, b stamped[T]) int { return cmp.Compare(a.at.ns, b.at.ns) })
	out := make([]T, len(kept))
	for i, s := range kept {
		out[i] = s.value
		set(&out[i], time.Duration(s.at.ns))
	}
	return out
}

// doubtClocks tells of times that could not be brought to one clock.
func (d *decoder) doubtClocks(t *Trace, v *conversion) {
	const most = 10
	if n := v.failed[-1]; n > 0 {
		d.warnings.Addf(0, "%d readings bear no time that can be read: they are left out", n)
		delete(v.failed, -1)
	}
	others := 0
	for i, at := range slices.Sorted(maps.Keys(v.failed)) {
		if i >= most {
			others += v.failed[at]
			continue
		}
		d.warnings.Addf(0, "%d readings are on %s, from which nothing leads to %s: they are left out", v.failed[at], d.clocks.list[at].key, t.Clock)
	}
	if others > 0 {
		d.warnings.Addf(0, "%d readings on %d more clocks are left out for the same reason", others, len(v.failed)-most)
	}
	if t.Clock != clockNames[clockMonotonic] && d.measured() {
		d.warnings.Addf(0, "no snapshot of clocks leads to CLOCK_MONOTONIC: times are on %s", t.Clock)
	}
	if d.clocks.refused > 0 {
		d.warnings.Addf(0, "the trace has more than %d clocks: %d times on others are not used", maxClocks, d.clocks.refused)
	}
	if d.clocks.dropped > 0 {
		d.warnings.Addf(0, "%d snapshots of clocks beyond the first %d are not used", d.clocks.dropped, maxSnapshots)
	}
}

// measured reports whether the trace holds readings whose times matter.
func (d *decoder) measured() bool {
	return len(d.rails.list) > 0 || len(d.battery) > 0 || len(d.consumers.list) > 0
}

// doubts tells of what was lost or left out.
func (d *decoder) doubts() {
	say := func(n int, format string) {
		if n > 0 {
			d.warnings.Addf(0, format, n)
		}
	}
	say(d.broken, "%d packets end in the middle of a field: what stands before that is read")
	say(d.unusable, "%d packets need what stood in a lost one: they are passed over")
	say(d.lost, "packets were lost in %d places: a buffer of the trace was too small")
	d.doubtMachines()
	say(d.rails.unknown, "%d readings are of a power rail that the trace does not describe: they are left out")
	say(d.rails.malformed+d.consumers.malformed, "%d readings of energy say not whose or how much: they are left out")
	say(d.residency.unknown, "%d times in a power state are of a state that the trace does not describe: they are left out")
	for _, kind := range slices.Sorted(maps.Keys(d.tooMany)) {
		d.warnings.Addf(0, "the trace has more %s than are kept: %d are left out", kind, d.tooMany[kind])
	}
}
