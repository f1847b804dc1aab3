package methodtrace

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Kinds of records in version 2 of the formats, and in low-overhead dumps.
const (
	threadInfo = 0
	methodInfo = 1
	entryBlock = 2
	summaryV2  = 3
)

// signed appends a signed LEB128 number.
func signed(b []byte, v int64) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// unsigned appends an unsigned LEB128 number.
func unsigned(b []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// block appends a block with its header: the thread, how many entries it has, and its size.
func block(b []byte, tid int32, entries int, body []byte) []byte {
	b = le.AppendUint32(append(b, entryBlock), uint32(tid))
	b = append(b, byte(entries), byte(entries>>8), byte(entries>>16))
	return append(le.AppendUint32(b, uint32(len(body))), body...)
}

// infos appends threads and methods.
func (c *Chart) infos(b []byte, threads bool, used func(method int) bool) []byte {
	for _, t := range c.Threads {
		if threads {
			b = le.AppendUint32(append(b, threadInfo), uint32(t.TID))
			b = append(le.AppendUint16(b, uint16(len(t.Name))), t.Name...)
		}
	}
	for i, m := range c.methods {
		if used(i) {
			b = le.AppendUint64(append(b, methodInfo), pointer(i))
			b = append(le.AppendUint16(b, uint16(len(m.line()))), m.line()...)
		}
	}
	return b
}

// second is version 2 of the formats (FlushEntriesFormatV2): the threads' events in blocks.
func (r *Recording) second(events []event) []byte {
	b := r.infos(r.head(), true, func(int) bool { return true })
	for i, t := range r.Threads {
		var body []byte
		var last uint64
		var before, beforeCPU time.Duration
		entries := 0
		for _, e := range events {
			if e.thread != i {
				continue
			}
			value := pointer(e.method)
			if e.exit {
				value |= 1
			}
			body = signed(body, int64(value-last))
			last = value
			wall, cpu := r.times(e)
			if r.Clock != CPU {
				body = unsigned(body, uint64(wall-before))
			}
			if r.Clock != Wall {
				body = unsigned(body, uint64(cpu-beforeCPU))
			}
			before, beforeCPU = wall, cpu
			entries++
		}
		b = block(b, t.TID, entries, body)
	}
	summary := r.summary(len(events), false)
	return append(le.AppendUint16(append(b, summaryV2), uint16(len(summary))), summary...)
}

// Long is how long a call has to take for a low-overhead recording of long ones: 2^22 ticks of a
// counter of 24.576 MHz (kLongRunningMethodThreshold of Android 16; later sources have 2^23).
const Long = (1 << 22) * time.Second / 24_576_000

// hooked reports whether compiled code calls the low-overhead tracer for a method: not for one that
// is interpreted, native, or compiled into its caller.
func (c *Chart) hooked(method int) bool {
	switch c.methods[method].kind {
	case simapp.Interpreted, simapp.Native, simapp.Inlined:
		return false
	}
	return true
}

// counts is how much the CPU's counter is ahead of CLOCK_MONOTONIC: the time that the phone slept,
// and that of its boot loader.
const counts = clock.Slept + 2700*time.Millisecond

// LowOverhead is what `am profile lowoverhead stop` writes at a time of a recording that began at
// another (DumpLongRunningMethodBuffer): calls that took long, and those that are under way. It has
// no header and names no thread.
func (c *Chart) LowOverhead(from, until time.Duration) []byte {
	var b []byte
	used := map[int]bool{}
	for i, t := range c.Threads {
		long := Thread{}
		for _, call := range t.Calls {
			underWay := call.To >= until
			if call.From < until && call.To > from && c.hooked(call.Method) && (underWay || call.To-max(call.From, from) >= Long) {
				call.From = max(call.From, from) // what is on the stack when it begins
				long.Calls = append(long.Calls, call)
			}
		}
		var body []byte
		var last, lastMethod uint64
		entries := 0
		for _, e := range long.events(i) {
			if e.at >= until {
				continue
			}
			now := uint64(e.at+counts) << 1
			if e.exit {
				now |= 1
			}
			body = signed(body, int64(now-last))
			if last = now; !e.exit {
				used[e.method] = true
				body = signed(body, int64(pointer(e.method)-lastMethod))
				lastMethod = pointer(e.method)
			}
			entries++
		}
		b = block(b, t.TID, entries, body)
	}
	return c.infos(b, false, func(method int) bool { return used[method] })
}

// ringSize is how many entries ART keeps of a thread where all calls are recorded
// (kAlwaysOnTraceBufSize).
const ringSize = 2048

// Latest is what `am profile lowoverhead stop` writes of a recording of all calls (DumpBuffer): the
// order of a thread's last ones, without times. It names its threads.
func (c *Chart) Latest(from, until time.Duration) []byte {
	var b []byte
	for i, t := range c.Threads {
		var body []byte
		ring := t.events(i)
		kept := ring[:0]
		for _, e := range ring {
			if e.at >= from && e.at < until && c.hooked(e.method) {
				kept = append(kept, e)
			}
		}
		kept = kept[max(0, len(kept)-ringSize+1):]
		raw, exited := uint64(0), false
		for _, e := range kept {
			switch {
			case !e.exit:
				body = signed(body, int64(pointer(e.method)-raw))
				raw = pointer(e.method)
			case exited:
				body = signed(body, 0)
			default:
				body, raw = signed(body, 1), 1
			}
			exited = e.exit
		}
		b = block(b, t.TID, len(kept), body)
	}
	return c.infos(b, true, c.hooked)
}
