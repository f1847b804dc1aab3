package pftrace

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// Fields of the kernel's events (ftrace/ftrace_event_bundle.proto, ftrace_event.proto,
// sched.proto, power.proto, ftrace.proto, binder.proto).
const (
	packetFtrace = 1

	bundleCPU     = 1
	bundleEvent   = 2
	bundleCompact = 4

	eventTime      = 1
	eventPID       = 2
	eventPrint     = 3
	eventSwitch    = 4
	eventFrequency = 11
	eventWaking    = 20
	eventWakeup    = 17
	eventSent      = 50 // binder.proto
	eventReceived  = 51
	eventReason    = 18 // sched.proto

	eventRequestIssue    = 45 // block.proto
	eventRequestComplete = 125
	eventBioQueue        = 119
	eventBioComplete     = 117
	eventSyncEnter       = 255 // f2fs.proto
	eventSyncExit        = 256

	packetInterned  = 12
	internedSymbols = 26

	// inInterrupt is TRACE_FLAG_HARDIRQ in an event's flags.
	inInterrupt = 8
)

// Ftrace selects the kernel's events, and the processes' output among them, for a trace.
type Ftrace struct {
	Events     map[string]bool // by the kernel's names ("sched_switch"), including unknown ones
	Symbols    bool            // names of kernel functions
	Compact    bool            // switches and wakings in the compact format
	Categories []string
	Apps       []string // whose own sections are recorded, "*" for all
	Closed     []string // whose own sections are never recorded
}

// ask adds events.
func (f *Ftrace) ask(events ...string) {
	for _, one := range events {
		if f.Events == nil {
			f.Events = map[string]bool{}
		}
		f.Events[one] = true
	}
}

// Without returns a copy without an event that a policy forbids.
func (f Ftrace) Without(event string) Ftrace {
	f.Events = maps.Clone(f.Events)
	delete(f.Events, event)
	return f
}

// event is one event on a CPU.
type event struct {
	at   time.Duration
	cpu  int8
	rank int8  // the order of events at the same time
	pid  int32 // the current thread, 0: idle
	kind protowire.Number
	body []byte
	move move // for a switch or a waking
}

// move is the data of a switch or a waking.
type move struct {
	prev, next           int32
	prevName, nextName   string
	prevState, interrupt uint64
	target               int8
}

// The order of events at the same time: a thread ends its sections and wakes another before it
// leaves its CPU, and begins others once it is there.
const (
	endsBefore int8 = iota
	beginsBefore
	sends
	completes
	wakes
	reasons
	changesSpeed
	switches
	receives
	endsAfter
	beginsAfter
)

// perBundle is the interval at which the kernel's buffers are read.
const perBundle = 250 * time.Millisecond

// Ftrace writes the kernel's events of a time, in bundles of one CPU each. ahead is the offset
// of CLOCK_BOOTTIME from the timeline.
func (w *Writer) Ftrace(t *timeline.Timeline, asked Ftrace, api int, during timeline.Interval, ahead time.Duration) {
	v := newKernel(t, asked, api, during)
	defer v.close()
	var symbols []byte
	if data := v.interned(); data != nil {
		symbols = message(nil, packetInterned, data)
	}
	order := v.inOrder()
	b := bundler{compact: asked.Compact, ahead: ahead}
	var byCPU [maxCPUs][]int32
	for begin := 0; begin < len(order); {
		end := begin
		for until := v.events[order[begin]].at + perBundle; end < len(order) && v.events[order[end]].at < until; end++ {
			if cpu := v.events[order[end]].cpu; cpu >= 0 && cpu < maxCPUs {
				byCPU[cpu] = append(byCPU[cpu], order[end])
			}
		}
		for cpu, list := range byCPU {
			if len(list) > 0 {
				flags, interned := uint64(0), symbols
				if symbols != nil { // once, at the beginning of the sequence
					flags, symbols = stateCleared, nil
				}
				w.packetOn(sequenceProbes, 0, 0, flags, packetFtrace, b.bundle(cpu, v.events, list), interned)
			}
			byCPU[cpu] = list[:0]
		}
		begin = end
	}
}

// inOrder returns the places of the events by their times, and by their ranks where they happen at
// once.
func (k *kernel) inOrder() []int32 {
	order := make([]int32, len(k.events))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		one, other := &k.events[a], &k.events[b]
		return cmp.Or(cmp.Compare(one.at, other.at), cmp.Compare(one.rank, other.rank), cmp.Compare(a, b))
	})
	return order
}

// maxCPUs limits a phone's CPUs.
const maxCPUs = 16

// bundler encodes bundles of one format, in memory that it uses again.
type bundler struct {
	compact        bool
	ahead          time.Duration
	all, one, body []byte
}

// bundle encodes an FtraceEventBundle of the events in a list. The result holds until the next call.
func (x *bundler) bundle(cpu int, events []event, list []int32) []byte {
	b := number(x.all[:0], bundleCPU, uint64(cpu))
	var columns compactSched
	for _, i := range list {
		e := &events[i]
		at, body := uint64(e.at+x.ahead), e.body
		switch {
		case x.compact && e.kind == eventSwitch:
			columns.addSwitch(at, e.move)
			continue
		case x.compact && e.kind == eventWaking:
			columns.addWaking(at, e.move)
			continue
		case e.kind == eventSwitch:
			x.body = switchEvent(x.body[:0], e.move)
			body = x.body
		case e.kind == eventWaking, e.kind == eventWakeup:
			x.body = wakingEvent(x.body[:0], e.move)
			body = x.body
		}
		x.one = message(number(number(x.one[:0], eventTime, at), eventPID, uint64(e.pid)), e.kind, body)
		b = message(b, bundleEvent, x.one)
	}
	if body := columns.bytes(); body != nil {
		b = message(b, bundleCompact, body)
	}
	x.all = b
	return b
}

// priority is nice value 0 in the kernel's numbers.
const priority = 120

// switchEvent appends a SchedSwitchFtraceEvent.
func switchEvent(b []byte, m move) []byte {
	b = message(b, 1, []byte(m.prevName))
	b = number(number(number(b, 2, uint64(m.prev)), 3, priority), 4, m.prevState)
	return number(number(message(b, 5, []byte(m.nextName)), 6, uint64(m.next)), 7, priority)
}

// wakingEvent appends a SchedWakingFtraceEvent, or a SchedWakeupFtraceEvent, whose fields are
// the same.
func wakingEvent(b []byte, m move) []byte {
	b = number(message(b, 1, []byte(m.nextName)), 2, uint64(m.next))
	return number(number(number(b, 3, priority), 4, 1), 5, uint64(m.target))
}

// compactSched encodes a CompactSched: columns of switches and wakings.
type compactSched struct {
	names                                              []string
	switchTime, switchState, switchPID, switchName     []byte
	switchPriority                                     []byte
	wakeTime, wakePID, wakeCPU, wakeName, wakePriority []byte
	wakeFlags                                          []byte
	lastSwitch, lastWake                               uint64
}

func (c *compactSched) name(s string) uint64 {
	i := slices.Index(c.names, s)
	if i < 0 {
		i, c.names = len(c.names), append(c.names, s)
	}
	return uint64(i)
}

func (c *compactSched) addSwitch(at uint64, m move) {
	c.switchTime = protowire.AppendVarint(c.switchTime, at-c.lastSwitch)
	c.switchState = protowire.AppendVarint(c.switchState, m.prevState)
	c.switchPID = protowire.AppendVarint(c.switchPID, uint64(m.next))
	c.switchPriority = protowire.AppendVarint(c.switchPriority, priority)
	c.switchName = protowire.AppendVarint(c.switchName, c.name(m.nextName))
	c.lastSwitch = at
}

func (c *compactSched) addWaking(at uint64, m move) {
	c.wakeTime = protowire.AppendVarint(c.wakeTime, at-c.lastWake)
	c.wakePID = protowire.AppendVarint(c.wakePID, uint64(m.next))
	c.wakeCPU = protowire.AppendVarint(c.wakeCPU, uint64(m.target))
	c.wakePriority = protowire.AppendVarint(c.wakePriority, priority)
	c.wakeName = protowire.AppendVarint(c.wakeName, c.name(m.nextName))
	c.wakeFlags = protowire.AppendVarint(c.wakeFlags, m.interrupt)
	c.lastWake = at
}

func (c *compactSched) bytes() []byte {
	var b []byte
	for _, column := range []struct {
		field protowire.Number
		data  []byte
	}{
		{1, c.switchTime}, {2, c.switchState}, {3, c.switchPID}, {4, c.switchPriority}, {6, c.switchName},
		{7, c.wakeTime}, {8, c.wakePID}, {9, c.wakeCPU}, {10, c.wakePriority}, {11, c.wakeName}, {12, c.wakeFlags},
	} {
		if len(column.data) > 0 {
			b = message(b, column.field, column.data)
		}
	}
	for _, name := range c.names {
		b = message(b, 5, []byte(name))
	}
	return b
}
