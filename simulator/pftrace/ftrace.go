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
	var symbols []byte
	if data := v.interned(); data != nil {
		symbols = message(nil, packetInterned, data)
	}
	slices.SortStableFunc(v.events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank)) })
	for begin := 0; begin < len(v.events); {
		end := begin
		byCPU := map[int8][]event{}
		for end < len(v.events) && v.events[end].at < v.events[begin].at+perBundle {
			byCPU[v.events[end].cpu] = append(byCPU[v.events[end].cpu], v.events[end])
			end++
		}
		for cpu := range int8(maxCPUs) {
			if list := byCPU[cpu]; len(list) > 0 {
				flags, interned := uint64(0), symbols
				if symbols != nil { // once, at the beginning of the sequence
					flags, symbols = stateCleared, nil
				}
				w.packetOn(sequenceProbes, 0, 0, flags, packetFtrace, bundle(cpu, list, asked.Compact, ahead), interned)
			}
		}
		begin = end
	}
}

// maxCPUs limits a phone's CPUs.
const maxCPUs = 16

// bundle encodes an FtraceEventBundle.
func bundle(cpu int8, list []event, compact bool, ahead time.Duration) []byte {
	b := number(nil, bundleCPU, uint64(cpu))
	var columns compactSched
	for _, e := range list {
		at := uint64(e.at + ahead)
		switch {
		case compact && e.kind == eventSwitch:
			columns.addSwitch(at, e.move)
			continue
		case compact && e.kind == eventWaking:
			columns.addWaking(at, e.move)
			continue
		case e.kind == eventSwitch:
			e.body = switchEvent(e.move)
		case e.kind == eventWaking, e.kind == eventWakeup:
			e.body = wakingEvent(e.move)
		}
		one := number(number(nil, eventTime, at), eventPID, uint64(e.pid))
		b = message(b, bundleEvent, message(one, e.kind, e.body))
	}
	if body := columns.bytes(); body != nil {
		b = message(b, bundleCompact, body)
	}
	return b
}

// priority is nice value 0 in the kernel's numbers.
const priority = 120

// switchEvent encodes a SchedSwitchFtraceEvent.
func switchEvent(m move) []byte {
	b := message(nil, 1, []byte(m.prevName))
	b = number(number(number(b, 2, uint64(m.prev)), 3, priority), 4, m.prevState)
	return number(number(message(b, 5, []byte(m.nextName)), 6, uint64(m.next)), 7, priority)
}

// wakingEvent encodes a SchedWakingFtraceEvent, or a SchedWakeupFtraceEvent, whose fields are
// the same.
func wakingEvent(m move) []byte {
	b := number(message(nil, 1, []byte(m.nextName)), 2, uint64(m.next))
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
