package perfetto

import (
	"fmt"
	"time"
)

// The builtin clocks (builtin_clock.proto).
const (
	clockDefault   = 0 // the trace's own
	clockMonotonic = 3
	clockMonoRaw   = 5
	clockBoottime  = 6
	// clockFtrace stands for the kernel's tracing clock where that is none of the
	// above; the format has no number for it.
	clockFtrace = 1 << 31
)

var clockNames = map[uint32]string{
	1: "realtime", 2: "realtime-coarse", clockMonotonic: "monotonic", 4: "monotonic-coarse",
	clockMonoRaw: "monotonic-raw", clockBoottime: "boottime", 9: "tsc", 10: "perf", 11: "trace-file", clockFtrace: "ftrace",
}

// clockKey tells clocks apart. A clock from 64 to 127 belongs to its sequence of
// packets, all others to their machine.
type clockKey struct {
	machine, sequence, id uint32
	// early stands for a sequence's clock before the first snapshot of it, which
	// tells its unit and what it counts from: nothing leads from there.
	early bool
}

func keyOf(machine, sequence, id uint32) clockKey {
	if id < 64 || id > 127 {
		sequence = 0
	}
	return clockKey{machine: machine, sequence: sequence, id: id}
}

func (k clockKey) String() string {
	name, ok := clockNames[k.id]
	switch {
	case k.early:
		return fmt.Sprintf("clock %d of sequence %d before the first snapshot of it", k.id, k.sequence)
	case k.sequence != 0:
		return fmt.Sprintf("clock %d of sequence %d", k.id, k.sequence)
	case !ok:
		name = fmt.Sprintf("clock %d", k.id)
	}
	if k.machine != 0 {
		return fmt.Sprintf("%s of machine %d", name, k.machine)
	}
	return name
}

// name is the clock's name on its own machine.
func (k clockKey) name() string {
	k.machine = 0
	return k.String()
}

// stamp is a time on some clock, in nanoseconds.
type stamp struct {
	clock int32 // in clocks.list
	ns    int64
}

// noStamp is the time of what bears none.
var noStamp = stamp{clock: -1}

// maxTime keeps sums of two times within an int64; it is 73 years.
const maxTime = 1 << 61

// clocks holds what the trace says of its clocks.
type clocks struct {
	list      []*clock
	places    map[clockKey]int32
	snapshots []snapshot
	primary   map[uint32]uint32 // by machine, as the trace states it
	dropped   int               // snapshots beyond the limit
	refused   int               // times on clocks beyond the limit
}

// clock is one clock of the trace.
type clock struct {
	key         clockKey
	unit        int64 // ns
	defined     bool  // a snapshot has told of it
	incremental bool
	last        int64 // ns, of an incremental clock
	first, end  int64 // ns, the span of its stamps
	used        bool
}

// snapshot is the readings of several clocks at one instant.
type snapshot []stamp

// place finds or adds a clock; -1 where there are too many. The builtin clocks
// of the traced device, few as they are, always have a place.
func (c *clocks) place(key clockKey) int32 {
	if at, ok := c.places[key]; ok {
		return at
	}
	if len(c.list) >= maxClocks && (key.id > 63 || key.machine != 0) {
		c.refused++
		return -1
	}
	if c.places == nil {
		c.places = map[clockKey]int32{}
	}
	at := int32(len(c.list))
	c.places[key] = at
	c.list = append(c.list, &clock{key: key, unit: 1})
	return at
}

// stamp is the time of a value that a clock shows. It moves an incremental
// clock, so that it must be called once for each packet, in their order.
func (c *clocks) stamp(key clockKey, value uint64) stamp {
	at := c.place(key)
	if at < 0 {
		return noStamp
	}
	if key.sequence != 0 && !c.list[at].defined {
		key.early = true
		if at = c.place(key); at < 0 {
			return noStamp
		}
	}
	k := c.list[at]
	ns := nanoseconds(value, k.unit)
	if ns < 0 {
		return noStamp
	}
	if k.incremental {
		if k.last+ns > maxTime {
			return noStamp
		}
		k.last += ns
		ns = k.last
	}
	return c.seen(stamp{at, ns})
}

// seen widens the span of a stamp's clock.
func (c *clocks) seen(s stamp) stamp {
	if s.clock < 0 || s.ns < 0 || s.ns > maxTime {
		return noStamp
	}
	k := c.list[s.clock]
	if !k.used {
		k.used, k.first, k.end = true, s.ns, s.ns
	}
	k.first, k.end = min(k.first, s.ns), max(k.end, s.ns)
	return s
}

// nanoseconds multiplies; -1 where the result is no time.
func nanoseconds(value uint64, unit int64) int64 {
	if value > maxTime || value > uint64(maxTime/unit) {
		return -1
	}
	return int64(value) * unit
}

// addSnapshot reads a ClockSnapshot.
func (c *clocks) addSnapshot(message []byte, machine, sequence uint32) {
	var s snapshot
	f := fieldsOf(message)
	for f.next() {
		switch {
		case f.number == 1 && len(s) < maxSnapshot:
			if at := c.reading(f.bytes, machine, sequence); at.clock >= 0 {
				s = append(s, at)
			}
		case f.number == 2 && f.value != 0 && len(c.primary) < maxClocks:
			c.primary[machine] = uint32(f.value)
		}
	}
	c.keep(s)
}

func (c *clocks) keep(s snapshot) {
	switch {
	case len(s) < 2:
	case len(c.snapshots) == maxSnapshots:
		c.dropped++
	default:
		c.snapshots = append(c.snapshots, s)
	}
}

// reading reads one clock of a snapshot.
func (c *clocks) reading(message []byte, machine, sequence uint32) stamp {
	var id uint32
	var value uint64
	unit, incremental := int64(1), false
	f := fieldsOf(message)
	for f.next() {
		switch f.number {
		case 1:
			id = uint32(f.value)
		case 2:
			value = f.value
		case 3:
			incremental = f.value != 0
		case 4:
			if f.value > 0 && f.value <= uint64(time.Hour) {
				unit = int64(f.value)
			}
		}
	}
	at := c.place(keyOf(machine, sequence, id))
	ns := nanoseconds(value, unit)
	if at < 0 || ns < 0 {
		return noStamp
	}
	k := c.list[at]
	k.unit, k.last, k.defined = unit, ns, true
	k.incremental = incremental && k.key.sequence != 0
	return stamp{at, ns}
}

// addRemote reads a RemoteClockSync: readings of a machine's clocks beside those
// of the host's, taken one after the other.
func (c *clocks) addRemote(message []byte, machine uint32) {
	f := fieldsOf(message)
	for f.next() {
		if f.number != 1 {
			continue
		}
		var client, host snapshot
		pair := fieldsOf(f.bytes)
		for pair.next() {
			switch pair.number {
			case 2:
				client = c.readings(pair.bytes, machine)
			case 3:
				host = c.readings(pair.bytes, 0)
			}
		}
		for _, a := range client {
			for _, b := range host {
				if c.list[a.clock].key.id == c.list[b.clock].key.id && a.clock != b.clock {
					c.keep(snapshot{a, b})
				}
			}
		}
	}
}

func (c *clocks) readings(message []byte, machine uint32) snapshot {
	var out snapshot
	f := fieldsOf(message)
	for f.next() {
		if f.number == 1 && len(out) < maxSnapshot {
			if at := c.reading(f.bytes, machine, 0); at.clock >= 0 && at.ns > 0 {
				out = append(out, at)
			}
		}
	}
	return out
}
