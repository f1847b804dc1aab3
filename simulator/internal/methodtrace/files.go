package methodtrace

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// Clock is which times a file has.
type Clock string

// The clocks, as `am profile start --clock-type` names them.
const (
	Wall Clock = "wall"
	CPU  Clock = "thread-cpu"
	Dual Clock = "dual"
)

// Recording is what is written to a file.
type Recording struct {
	*Chart
	From, Until time.Duration
	Clock       Clock
	Streaming   bool
	V2          bool          // --profiler-output-version 2
	Every       time.Duration // between two samples; 0: every call is recorded
	// Buffer is the size of ART's buffer, which a stream does not fill.
	Buffer int
	VM     string
}

var le = binary.LittleEndian

// headSize is the size of the binary header.
const headSize = 32

// recordSize is the size of an event in version 1 of the formats.
func (r *Recording) recordSize() int {
	if r.Clock == Dual {
		return 14
	}
	return 10
}

// version is GetTraceVersion.
func (r *Recording) version() int {
	v := 2
	if r.Clock == Dual {
		v = 3
	}
	if r.V2 {
		v += 2
	}
	return v
}

func (r *Recording) events() []event {
	if r.Every > 0 {
		return r.sampled(r.From, r.Until, r.Every)
	}
	return r.recorded(r.From, r.Until)
}

// Bytes returns the file.
func (r *Recording) Bytes() []byte {
	events := r.events()
	switch {
	case r.V2:
		return r.second(events)
	case r.Streaming:
		return r.stream(events, true)
	}
	full := len(events) > (r.Buffer-headSize)/r.recordSize()
	if full {
		events = events[:(r.Buffer-headSize)/r.recordSize()]
	}
	b := append([]byte(r.summary(len(events), full)), r.head()...)
	for _, e := range events {
		b = r.record(b, e)
	}
	return b
}

// flushed is how many events of a thread ART keeps before it writes them (kPerThreadBufSize, in
// words).
func (r *Recording) flushed() int {
	if r.Clock == Dual {
		return 512 * 1024 / 3
	}
	return 512 * 1024 / 2
}

// Killed returns what is left in the file when the process is killed: of a file nothing, of a stream
// what was written by then.
func (r *Recording) Killed() []byte {
	if !r.Streaming {
		return nil
	}
	all := r.events()
	count, written := map[int]int{}, map[int]int{}
	for _, e := range all {
		count[e.thread]++
	}
	kept := all[:0]
	for _, e := range all {
		if written[e.thread]++; written[e.thread] <= count[e.thread]/r.flushed()*r.flushed() {
			kept = append(kept, e)
		}
	}
	return r.stream(kept, false)
}

// head is the binary header.
func (r *Recording) head() []byte {
	b := make([]byte, headSize)
	copy(b, "SLOW")
	version := r.version()
	if r.Streaming {
		version |= 0xf0
	}
	le.PutUint16(b[4:], uint16(version))
	if r.V2 {
		le.PutUint64(b[6:], uint64(r.From))
		return b
	}
	le.PutUint16(b[6:], headSize)
	le.PutUint64(b[8:], uint64(r.From.Microseconds()))
	if r.Clock == Dual {
		le.PutUint16(b[16:], uint16(r.recordSize()))
	}
	return b
}

// times are an event's on both clocks: since the recording began, and since the thread's first
// event.
func (r *Recording) times(e event) (wall, cpu time.Duration) {
	t := r.Threads[e.thread]
	return e.at - r.From, t.CPU(e.at) - t.CPU(r.From)
}

// record appends an event (EncodeEventEntry).
func (r *Recording) record(b []byte, e event) []byte {
	wall, cpu := r.times(e)
	b = le.AppendUint16(b, uint16(r.Threads[e.thread].TID))
	action := uint32(0)
	if e.exit {
		action = 1
	}
	b = le.AppendUint32(b, number(e.method)|action)
	if r.Clock != Wall {
		b = le.AppendUint32(b, uint32(cpu.Microseconds()))
	}
	if r.Clock != CPU {
		b = le.AppendUint32(b, uint32(wall.Microseconds()))
	}
	return b
}

// number is a method's in the formats that count methods: the low bits are the action.
func number(method int) uint32 { return uint32(method) << 2 }

// pointer is a method's in the other formats.
func pointer(method int) uint64 { return 0x7000_2000 + uint64(method)*32 }

// summary is CreateSummary.
func (r *Recording) summary(events int, full bool) string {
	var b strings.Builder
	unit, elapsed := "usec", (r.Until - r.From).Microseconds()
	if r.V2 {
		unit, elapsed = "nsec", int64(r.Until-r.From)
	}
	fmt.Fprintf(&b, "*version\n%d\ndata-file-overflow=%t\nclock=%s\nelapsed-time-%s=%d\n", r.version(), full, r.Clock, unit, elapsed)
	if !r.Streaming {
		fmt.Fprintf(&b, "num-method-calls=%d\n", events)
	}
	fmt.Fprintf(&b, "clock-call-overhead-nsec=%d\nvm=%s\npid=%d\n", 180, r.VM, r.PID)
	if !r.V2 {
		b.WriteString("*threads\n")
		for _, t := range r.Threads {
			fmt.Fprintf(&b, "%d\t%s\n", t.TID, t.Name)
		}
		b.WriteString("*methods\n")
		for i, m := range r.methods {
			fmt.Fprintf(&b, "%#x\t%s", number(i), m.line())
		}
	}
	b.WriteString("*end\n")
	return b.String()
}

// What stands behind a thread of 0 in a stream.
const (
	opMethod  = 1
	opThread  = 2
	opSummary = 3
)

// stream is a file that is written while it is recorded; a killed process writes no summary.
func (r *Recording) stream(events []event, ended bool) []byte {
	b := r.head()
	threads, methods := map[int]bool{}, map[int]bool{}
	for _, e := range events {
		if t := r.Threads[e.thread]; !threads[e.thread] {
			threads[e.thread] = true
			b = le.AppendUint16(append(b, 0, 0, opThread), uint16(t.TID))
			b = append(le.AppendUint16(b, uint16(len(t.Name))), t.Name...)
		}
		if !methods[e.method] {
			methods[e.method] = true
			line := fmt.Sprintf("%#x\t%s", number(e.method), r.methods[e.method].line())
			b = append(le.AppendUint16(append(b, 0, 0, opMethod), uint16(len(line))), line...)
		}
		b = r.record(b, e)
	}
	if !ended {
		return b
	}
	summary := r.summary(0, false)
	return append(le.AppendUint32(append(b, 0, 0, opSummary), uint32(len(summary))), summary...)
}
