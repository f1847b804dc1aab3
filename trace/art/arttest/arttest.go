// Package arttest writes ART's method traces for tests, after AOSP's writers (TraceWriter in
// art/runtime/trace.cc, TraceProfiler in trace_profile.cc) and, for the dialect that no writer
// of AOSP has, after Perfetto's reader. It shares no code with the package that reads them.
package arttest

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Event is an entry (Action 0) into a method or an exit from it (1, or 2 by an exception).
type Event struct {
	Thread uint32
	Method int // place in Trace.Methods
	Action int
	Wall   uint64 // ns since the trace began
	CPU    uint64 // ns of the thread
}

// Trace is what is written.
type Trace struct {
	Methods []string // lines as GetMethodInfoLine has them, with tabs and a newline
	Threads map[uint32]string
	Order   []uint32 // the threads, in the order in which they are written
	Events  []Event
	Begin   uint64 // ns
}

var le = binary.LittleEndian

// ID is a method's in the formats that number methods.
func ID(method int) uint32 { return uint32(method) << 2 }

// Pointer is a method's in the formats that have pointers.
func Pointer(method int) uint64 { return 0x7100_0000_1000 + uint64(method)*40 }

// record is EncodeEventEntry: processor time before wall time, both in µs.
func (t Trace) record(b []byte, e Event, clock string, oneByte bool) []byte {
	if oneByte {
		b = append(b, byte(e.Thread))
	} else {
		b = le.AppendUint16(b, uint16(e.Thread))
	}
	b = le.AppendUint32(b, ID(e.Method)|uint32(e.Action))
	if clock != "wall" {
		b = le.AppendUint32(b, uint32(e.CPU/1000))
	}
	if clock != "thread-cpu" {
		b = le.AppendUint32(b, uint32(e.Wall/1000))
	}
	return b
}

// head is the binary header of the first formats.
func (t Trace) head(version int) []byte {
	b := make([]byte, 32)
	copy(b, "SLOW")
	le.PutUint16(b[4:], uint16(version))
	le.PutUint16(b[6:], 32)
	le.PutUint64(b[8:], t.Begin/1000)
	if version&0xf == 3 {
		le.PutUint16(b[16:], 14)
	}
	return b
}

// Summary is CreateSummary: what ends a stream, and begins a file in text.
func (t Trace) Summary(version int, clock string, lists, stated bool) string {
	var s strings.Builder
	unit := "usec"
	if version > 3 {
		unit = "nsec"
	}
	fmt.Fprintf(&s, "*version\n%d\ndata-file-overflow=false\nclock=%s\nelapsed-time-%s=%d\n", version, clock, unit, 5_000_000)
	if stated {
		fmt.Fprintf(&s, "num-method-calls=%d\n", len(t.Events))
	}
	fmt.Fprintf(&s, "clock-call-overhead-nsec=300\nvm=art\npid=4711\n")
	if lists {
		s.WriteString("*threads\n")
		for _, tid := range t.Order {
			fmt.Fprintf(&s, "%d\t%s\n", tid, t.Threads[tid])
		}
		s.WriteString("*methods\n")
		for i, line := range t.Methods {
			fmt.Fprintf(&s, "%#x\t%s", ID(i), line)
		}
	}
	s.WriteString("*end\n")
	return s.String()
}

// Text is a trace in a file (kFile): version 1 (threads of one byte, Dalvik's), 2 or 3.
func (t Trace) Text(version int, clock string) []byte {
	b := append([]byte(t.Summary(version, clock, true, true)), t.head(version)...)
	for _, e := range t.Events {
		b = t.record(b, e, clock, version == 1)
	}
	return b
}

// Streaming is a trace as it is streamed (kStreaming): version 2 has one clock, 3 has both.
func (t Trace) Streaming(version int, clock string) []byte {
	b := t.head(version | 0xf0)
	threads, methods := map[uint32]bool{}, map[int]bool{}
	for _, e := range t.Events {
		if !threads[e.Thread] {
			threads[e.Thread] = true
			name := t.Threads[e.Thread]
			b = append(b, 0, 0, 2)
			b = le.AppendUint16(b, uint16(e.Thread))
			b = append(le.AppendUint16(b, uint16(len(name))), name...)
		}
		if !methods[e.Method] {
			methods[e.Method] = true
			line := fmt.Sprintf("%#x\t%s", ID(e.Method), t.Methods[e.Method])
			b = append(b, 0, 0, 1)
			b = append(le.AppendUint16(b, uint16(len(line))), line...)
		}
		b = t.record(b, e, clock, false)
	}
	summary := t.Summary(version, clock, true, false)
	b = append(b, 0, 0, 3)
	return append(le.AppendUint32(b, uint32(len(summary))), summary...)
}

// SLEB128 and ULEB128 append an integer (EncodeSignedLeb128, EncodeUnsignedLeb128).
func SLEB128(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// ULEB128 is SLEB128 of an unsigned integer.
func ULEB128(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// info appends the threads and methods of version 2.
func (t Trace) info(b []byte, threads bool) []byte {
	if threads {
		for _, tid := range t.Order {
			b = le.AppendUint32(append(b, 0), tid)
			b = append(le.AppendUint16(b, uint16(len(t.Threads[tid]))), t.Threads[tid]...)
		}
	}
	for i, line := range t.Methods {
		b = le.AppendUint64(append(b, 1), Pointer(i))
		b = append(le.AppendUint16(b, uint16(len(line))), line...)
	}
	return b
}

// block is a block with its header (EncodeEventBlockHeader).
func block(b []byte, tid uint32, count int, body []byte) []byte {
	b = le.AppendUint32(append(b, 2), tid)
	b = append(b, byte(count), byte(count>>8), byte(count>>16))
	return append(le.AppendUint32(b, uint32(len(body))), body...)
}

// of are the events of one thread.
func (t Trace) of(tid uint32) (out []Event) {
	for _, e := range t.Events {
		if e.Thread == tid {
			out = append(out, e)
		}
	}
	return out
}

// V2Head is the header of version 2; ART leaves the counter's start and frequency 0.
func (t Trace) V2Head(version int, start, frequency uint64) []byte {
	b := make([]byte, 32)
	copy(b, "SLOW")
	le.PutUint16(b[4:], uint16(version))
	le.PutUint64(b[6:], t.Begin)
	le.PutUint64(b[14:], start)
	le.PutUint64(b[22:], frequency)
	return b
}

// end appends the summary that ends version 2.
func (t Trace) end(b []byte, version int, clock string) []byte {
	summary := t.Summary(version&0xf, clock, false, false)
	return append(le.AppendUint16(append(b, 3), uint16(len(summary))), summary...)
}

// V2 is FlushEntriesFormatV2: the action is in the method. With split, a thread's entries are in
// two blocks, the second of which goes on with the first one's differences and counts its entries
// too, as ART writes them where its buffer is full.
func (t Trace) V2(version int, clock string, split bool) []byte {
	b := t.info(t.V2Head(version, 0, 0), true)
	for _, tid := range t.Order {
		events := t.of(tid)
		var body []byte
		var method, wall, cpu uint64
		for i, e := range events {
			value := Pointer(e.Method) | uint64(e.Action)
			body = SLEB128(body, int64(value-method))
			method = value
			if clock != "thread-cpu" {
				body = ULEB128(body, e.Wall-wall)
			}
			if clock != "wall" {
				body = ULEB128(body, e.CPU-cpu)
			}
			wall, cpu = e.Wall, e.CPU
			if split && i == len(events)/2 {
				b = block(b, tid, i+1, body)
				body = nil
			}
		}
		b = block(b, tid, len(events), body)
	}
	return t.end(b, version, clock)
}

// timed appends blocks in which the action is in the low bits of the time, and an exit has no method.
func (t Trace) timed(b []byte, dual bool, time func(Event) uint64) []byte {
	for _, tid := range t.Order {
		var body []byte
		var method, last, cpu uint64
		events := t.of(tid)
		for _, e := range events {
			now := time(e)
			body = SLEB128(body, int64(now-last))
			last = now
			if dual {
				body = SLEB128(body, int64(e.CPU-cpu))
				cpu = e.CPU
			}
			if e.Action == 0 {
				body = SLEB128(body, int64(Pointer(e.Method)-method))
				method = Pointer(e.Method)
			}
		}
		b = block(b, tid, len(events), body)
	}
	return b
}

// V2Time is the dialect of Perfetto's reader: the action is in two bits of the time, which counts
// ticks of a frequency.
func (t Trace) V2Time(version int, dual bool, frequency uint64) []byte {
	b := t.timed(t.info(t.V2Head(version, 1000, frequency), true), dual, func(e Event) uint64 {
		ticks := e.Wall
		if frequency > 0 {
			ticks = e.Wall * frequency / 1_000_000_000
		}
		return ticks<<2 | uint64(e.Action)
	})
	clock := "wall"
	if dual {
		clock = "dual"
	}
	return t.end(b, version, clock)
}

// longBlocks is DumpLongRunningMethodBuffer: an exit is the lowest bit of the time.
func (t Trace) longBlocks(b []byte) []byte {
	return t.timed(b, false, func(e Event) uint64 { return (t.Begin+e.Wall)<<1 | uint64(min(e.Action, 1)) })
}

// LongRunning is a low-overhead dump of long calls: blocks, and then methods without threads.
func (t Trace) LongRunning() []byte { return t.info(t.longBlocks(nil), false) }

// Version6 is the payload of Perfetto's art_method_trace_long_running.
func (t Trace) Version6(summary bool) []byte {
	b := t.V2Head(0xf6, 0, 0)
	if summary {
		b = le.AppendUint64(le.AppendUint64(append(b, 3), t.Begin), t.Begin+5_000_000_000)
	}
	return t.info(t.longBlocks(b), true)
}

// AllCalls is a low-overhead dump of all calls (DumpBuffer): methods without a clock. The four
// bytes of a block's size hold what was in memory.
func (t Trace) AllCalls(memory uint32) []byte {
	var b []byte
	for _, tid := range t.Order {
		var body []byte
		raw, exited := uint64(0), false
		events := t.of(tid)
		for _, e := range events {
			if e.Action == 0 {
				body = SLEB128(body, int64(Pointer(e.Method)-raw))
				raw, exited = Pointer(e.Method), false
				continue
			}
			if exited {
				body = SLEB128(body, 0)
			} else {
				body = SLEB128(body, 1)
			}
			raw, exited = 1, true
		}
		at := len(b)
		b = block(b, tid, len(events), body)
		le.PutUint32(b[at+8:], memory)
	}
	return t.info(b, true)
}
