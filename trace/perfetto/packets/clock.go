package packets

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// The builtin clocks (builtin_clock.proto).
const (
	ClockDefault   = 0 // the trace's own
	ClockRealtime  = 1
	ClockMonotonic = 3
	ClockMonoRaw   = 5
	ClockBoottime  = 6
	// ClockFtrace stands for the kernel's tracing clock if that is none of the above; the format
	// has no number for it.
	ClockFtrace = 1 << 31
)

// Monotonic is the name of CLOCK_MONOTONIC.
const Monotonic = "monotonic"

var clockNames = map[uint32]string{
	ClockRealtime: "realtime", 2: "realtime-coarse", ClockMonotonic: Monotonic, 4: "monotonic-coarse",
	ClockMonoRaw: "monotonic-raw", ClockBoottime: "boottime", 9: "tsc", 10: "perf", 11: "trace-file", ClockFtrace: "ftrace",
}

// Key identifies a clock. A clock from 64 to 127 belongs to its sequence of packets, all others to
// their machine.
type Key struct {
	machine, sequence, id uint32
	// early stands for a sequence's clock before its first snapshot, which states its unit and its
	// start: nothing leads from there.
	early bool
}

func KeyOf(machine, sequence, id uint32) Key {
	if id < 64 || id > 127 {
		sequence = 0
	}
	return Key{machine: machine, sequence: sequence, id: id}
}

func (k Key) String() string {
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

// name returns the clock's name on its own machine.
func (k Key) name() string {
	k.machine = 0
	return k.String()
}

// Stamp is a time on some clock, in nanoseconds.
type Stamp struct {
	Clock int32 // index in Clocks.list, -1 for no time
	NS    int64
}

// NoStamp is the time of a packet without one.
var NoStamp = Stamp{Clock: -1}

// MaxTime keeps sums of two times within an int64; it is 73 years.
const MaxTime = messages.MaxTime

// Clocks is the trace's clocks and their snapshots.
type Clocks struct {
	list      []*clock
	places    map[Key]int32
	snapshots []Snapshot
	pairs     int               // of the snapshots in bundles of the kernel's events
	primary   map[uint32]uint32 // by machine, as stated in the trace
	complete  bool              // all snapshots are known, and times are read again
	Dropped   int               // snapshots beyond the limit
	Refused   int               // times on clocks beyond the limit
}

// clock is one clock of the trace.
type clock struct {
	key         Key
	unit        int64 // ns
	defined     bool  // defined by a snapshot
	incremental bool
	last        int64 // ns, of an incremental clock
	first, end  int64 // ns, the span of its stamps
	used        bool
}

// Snapshot is the readings of several clocks at one instant.
type Snapshot []Stamp

// Place finds or adds a clock; -1 if there are too many. The builtin clocks of the traced device,
// few as they are, always have a place.
func (c *Clocks) Place(key Key) int32 {
	if at, ok := c.places[key]; ok {
		return at
	}
	if len(c.list) >= MaxClocks && (key.id > 63 || key.machine != 0) {
		c.Refused++
		return -1
	}
	if c.places == nil {
		c.places = map[Key]int32{}
	}
	at := int32(len(c.list))
	c.places[key] = at
	c.list = append(c.list, &clock{key: key, unit: 1})
	return at
}

// stamp returns the time of a clock's value. It advances an incremental clock, so it must be called
// once for each packet, in their order.
func (c *Clocks) stamp(key Key, value uint64) Stamp {
	at := c.Place(key)
	if at < 0 {
		return NoStamp
	}
	if key.sequence != 0 && !c.list[at].defined {
		key.early = true
		if at = c.Place(key); at < 0 {
			return NoStamp
		}
	}
	k := c.list[at]
	ns := Nanoseconds(value, k.unit)
	if ns < 0 {
		return NoStamp
	}
	if k.incremental {
		if k.last+ns > MaxTime {
			return NoStamp
		}
		k.last += ns
		ns = k.last
	}
	return c.Seen(Stamp{at, ns})
}

// Seen extends the span of a stamp's clock.
func (c *Clocks) Seen(s Stamp) Stamp {
	if s.Clock < 0 || s.NS < 0 || s.NS > MaxTime {
		return NoStamp
	}
	k := c.list[s.Clock]
	if !k.used {
		k.used, k.first, k.end = true, s.NS, s.NS
	}
	k.first, k.end = min(k.first, s.NS), max(k.end, s.NS)
	return s
}

// Nanoseconds multiplies; it returns -1 if the result is not a valid time.
func Nanoseconds(value uint64, unit int64) int64 {
	if value > MaxTime || value > uint64(MaxTime/unit) {
		return -1
	}
	return int64(value) * unit
}

// addSnapshot reads a ClockSnapshot.
func (c *Clocks) addSnapshot(message []byte, machine, sequence uint32) {
	said := messages.ClockSnapshotOf(message)
	if said.PrimaryTraceClock != 0 && len(c.primary) < MaxClocks {
		c.primary[machine] = uint32(said.PrimaryTraceClock)
	}
	c.Keep(c.readings(&said, machine, sequence))
}

func (c *Clocks) Keep(s Snapshot) {
	switch {
	case c.complete || len(s) < 2:
	case len(c.snapshots)-c.pairs == MaxSnapshots:
		c.Dropped++
	default:
		c.snapshots = append(c.snapshots, s)
	}
}

// pair records the relation of two clocks in a bundle of the kernel's events.
func (c *Clocks) pair(a, b Stamp) {
	switch {
	case c.complete:
	case c.pairs == maxPairs:
		c.Dropped++
	default:
		c.pairs++
		c.snapshots = append(c.snapshots, Snapshot{a, b})
	}
}

// reading reads one clock of a snapshot.
func (c *Clocks) reading(message []byte, machine, sequence uint32) Stamp {
	said := messages.ClockOf(message)
	unit := int64(1)
	if said.UnitMultiplierNS > 0 && said.UnitMultiplierNS <= uint64(time.Hour) {
		unit = int64(said.UnitMultiplierNS)
	}
	at := c.Place(KeyOf(machine, sequence, said.ClockID))
	ns := Nanoseconds(said.Timestamp, unit)
	if at < 0 || ns < 0 {
		return NoStamp
	}
	k := c.list[at]
	k.unit, k.last, k.defined = unit, ns, true
	k.incremental = said.IsIncremental && k.key.sequence != 0
	return Stamp{at, ns}
}

// addRemote reads a RemoteClockSync: readings of a machine's clocks and of the host's, taken in
// succession.
func (c *Clocks) addRemote(message []byte, machine uint32) {
	sync := messages.RemoteClockSyncOf(message)
	for pair := range sync.SyncedClocks.Each {
		both := messages.SyncedClocksOf(pair)
		client, host := messages.ClockSnapshotOf(both.ClientClocks), messages.ClockSnapshotOf(both.HostClocks)
		clients, hosts := c.readings(&client, machine, 0), c.readings(&host, 0, 0)
		for _, a := range clients {
			for _, b := range hosts {
				if a.NS > 0 && b.NS > 0 && c.list[a.Clock].key.id == c.list[b.Clock].key.id && a.Clock != b.Clock {
					c.Keep(Snapshot{a, b})
				}
			}
		}
	}
}

// readings returns the readings of a snapshot whose clocks have a place.
func (c *Clocks) readings(said *messages.ClockSnapshot, machine, sequence uint32) Snapshot {
	var out Snapshot
	for clock := range said.Clocks.Each {
		if len(out) == maxSnapshot {
			break
		}
		if at := c.reading(clock, machine, sequence); at.Clock >= 0 {
			out = append(out, at)
		}
	}
	return out
}

// Of returns a clock by its index.
func (c *Clocks) Of(place int32) Key { return c.list[place].key }

// Name returns a clock's name on its own machine.
func (c *Clocks) Name(place int32) string { return c.list[place].key.name() }

// rewind returns to the first packet, with all snapshots known.
func (c *Clocks) rewind() {
	c.complete = true
	for _, k := range c.list {
		k.defined, k.incremental, k.last, k.unit = false, false, 0, 1
	}
}
