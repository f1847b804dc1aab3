package powerdata

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// kernel is one data source's record of the kernel's events.
type kernel struct {
	machine        *machine
	events, unread int
	cpuLost        int
	cpus           []cpu
	ran            map[int32]*ran
	switches       int
	tasks          threads.Tasks
	frequencies    int
	suspends       []stamped[suspend]
	synced         int64 // ns of the last snapshot in a bundle
	begins         begins
}

// ran is a thread and its CPU time.
type ran struct {
	comm  string // ns of the bundle's clock, when it had that name
	named int64  // ns of the bundle's clock, when it had that name
	cpu   time.Duration
}

// cpu is one CPU of the traced device.
type cpu struct {
	seen    bool  // a bundle of it was read
	running bool  // it is known which thread runs
	tid     int32 // the running thread
	since   int64 // ns of the bundle's clock
	changes []stamped[FrequencyChange]
}

// suspend is the start or the end of a step of suspending.
type suspend struct {
	action string
	start  bool
	at     time.Duration
}

// bundle reads an FtraceEventBundle: events of one CPU. Its clock comes after its events.
func (k *kernel) bundle(d *decoder, message []byte, machine uint32) {
	m := messages.BundleOf(message)
	number := m.CPU
	if number >= maxCPUs {
		d.TooMany["CPUs"]++
		return
	}
	for len(k.cpus) <= int(number) {
		k.cpus = append(k.cpus, cpu{})
	}
	b := bundle{kernel: k, d: d, clock: d.FtraceClock(&m, machine, &k.synced), number: int(number), span: packets.NoStamp}
	if c := &k.cpus[number]; !c.seen {
		c.seen = true
		k.begins.at(packets.Begins(&m))
	}
	if m.LostEvents {
		k.cpuLost++
		k.cpus[number].running = false
	}
	for event := range m.Event.Each {
		b.event(event)
	}
	b.compact(m.CompactSched)
	b.close()
}

// bundle is a bundle being read.
type bundle struct {
	*kernel
	d      *decoder
	clock  int32
	number int           // of the CPU
	span   packets.Stamp // the latest time so far
	first  int64
}

// saw extends the span of the trace by a time, and reports whether the time is valid.
func (b *bundle) saw(ns uint64) bool {
	if ns > packets.MaxTime {
		return false
	}
	if b.span.Clock < 0 {
		b.span, b.first = packets.Stamp{Clock: b.clock, NS: int64(ns)}, int64(ns)
	}
	b.span.NS, b.first = max(b.span.NS, int64(ns)), min(b.first, int64(ns))
	return true
}

func (b *bundle) close() {
	if b.span.Clock >= 0 {
		b.d.Clocks.Seen(b.span)
		b.d.Clocks.Seen(packets.Stamp{Clock: b.clock, NS: b.first})
	}
}

// event reads an FtraceEvent.
func (b *bundle) event(message []byte) {
	b.events++
	e := messages.EventOf(message)
	if !b.saw(e.NS) {
		return
	}
	at := packets.Stamp{Clock: b.clock, NS: int64(e.NS)}
	switch e.Kind {
	case field.EventPrint:
		b.machine.states.print(b.d, messages.PrintOf(e.Data).Buf, func() packets.Stamp { return at })
	case field.EventSchedSwitch:
		s := messages.SchedSwitchOf(e.Data)
		b.switched(at.NS, s.NextPID, s.NextComm)
	case field.EventCPUFrequency:
		b.frequency(e.Data, at)
	case field.EventTaskNewtask:
		if task := messages.NewTaskOf(e.Data); b.tasks.Begin(b.d.File, at.NS, e.TID, task) {
			b.named(task.PID, at.NS, task.Comm)
		}
	case field.EventTaskRename:
		task := messages.RenameOf(e.Data)
		b.named(task.PID, at.NS, task.Newcomm)
	case field.EventSchedProcessExit:
		b.tasks.Exit(b.d.File, e.Data)
	case field.EventSuspendResume, field.EventSuspendResumeMinimal:
		b.suspend(e.Kind, e.Data, at)
	default:
		b.unread++
	}
}

func (b *bundle) frequency(message []byte, at packets.Stamp) {
	m := messages.CPUFrequencyOf(message)
	if m.CPUID >= maxCPUs || m.State > 1<<31 || !b.d.Room("changes of frequencies", b.frequencies, maxSamples) {
		return
	}
	for len(b.cpus) <= int(m.CPUID) {
		b.cpus = append(b.cpus, cpu{})
	}
	b.frequencies++
	c := &b.cpus[m.CPUID]
	c.changes = append(c.changes, stamped[FrequencyChange]{at, FrequencyChange{KHz: m.State}})
}

func (b *bundle) suspend(kind protowire.Number, message []byte, at packets.Stamp) {
	var s suspend
	if kind == field.EventSuspendResumeMinimal {
		s.start = messages.SuspendMinimalOf(message).Start != 0
	} else {
		m := messages.SuspendResumeOf(message)
		s.action, s.start = packets.Name(m.Action), m.Start != 0
	}
	if b.d.Room("suspensions", len(b.suspends), maxSamples) {
		b.suspends = append(b.suspends, stamped[suspend]{at, s})
	}
}

// spans returns the intervals in which the device slept: from Android's minimal event, which has no
// action, or else from the two steps that include the sleep on different kernels. An interval that
// overlaps the next one lost its end and is left out (perfetto's stdlib/android/suspend.sql).
func spans(steps []suspend) []Span {
	minimal := slices.ContainsFunc(steps, func(s suspend) bool { return s.action == "" })
	open := map[string]time.Duration{}
	var all []Span
	for _, s := range steps {
		sleep := s.action == "timekeeping_freeze" || s.action == "syscore_resume"
		if minimal && s.action != "" || !minimal && !sleep {
			continue
		}
		from, begun := open[s.action]
		if s.start {
			open[s.action] = s.at
		} else if begun {
			all = append(all, Span{from, s.at})
			delete(open, s.action)
		}
	}
	slices.SortFunc(all, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	var out []Span
	for i, s := range all {
		if i+1 == len(all) || s.End <= all[i+1].Start {
			out = append(out, s)
		}
	}
	return out
}
