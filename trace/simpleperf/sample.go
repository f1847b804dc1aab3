package simpleperf

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// Addresses from here on are markers in a call chain, not code (PERF_CONTEXT_MAX).
const (
	contextMax    = math.MaxUint64 - 4094
	contextKernel = math.MaxUint64 - 127
	contextUser   = math.MaxUint64 - 511
)

// frameKey identifies a frame.
type frameKey struct {
	file    *file
	address uint64
	offset  uint64
}

// sample parses a sample record, whose fields depend on its event.
func (d *decoder) sample(r record) {
	event := d.eventOf(r)
	a := d.attrs[event]
	c := cursor{b: r.body}
	if a.sampleType&sampleIdentifier != 0 {
		c.skip(8)
	}
	s := Sample{Event: event, CPU: -1, Period: max(a.period, 1)}
	var ip uint64
	var pid, tid uint32
	if a.sampleType&sampleIP != 0 {
		ip = c.u64()
	}
	if a.sampleType&sampleTID != 0 {
		pid, tid = c.u32(), c.u32()
	}
	if a.sampleType&sampleTime != 0 {
		s.Time = time.Duration(min(c.u64(), math.MaxInt64))
	}
	c.words(uint64(bits.OnesCount64(a.sampleType & (sampleAddr | sampleID | sampleStreamID))))
	if a.sampleType&sampleCPU != 0 {
		s.CPU = int(c.u32())
		c.skip(4)
	}
	if a.sampleType&samplePeriod != 0 {
		s.Period = c.u64()
	}
	readings := c.b
	if a.sampleType&sampleRead != 0 {
		eachReading(&c, a.readFormat, func(id, value uint64) {})
	}
	var chain []byte
	if a.sampleType&sampleChain != 0 {
		if n := c.u64(); n <= uint64(len(c.b))/8 {
			chain = c.take(8 * n)
		} else {
			c.short = true
		}
	}
	if c.short {
		d.warn(r.at, "a sample of %s is too short, with %d bytes", d.p.Events[event].Name, len(r.body))
		return
	}
	if len(d.p.Samples) >= MaxSamples {
		d.warnOnce(r.at, "there are more samples than are read")
		return
	}
	if a.sampleType&sampleRead != 0 {
		eachReading(&cursor{b: readings}, a.readFormat, d.reading)
	}
	d.returns(tid, s.Time)
	d.leaves(tid, &s)
	t := d.tasks.find(pid, tid)
	s.Thread = d.listed(t)
	s.Chain = d.chain(t, r.inKernel(), ip, chain)
	d.p.Samples = append(d.p.Samples, s)
}

// eventOf returns the event of a sample, by its id if there are several.
func (d *decoder) eventOf(r record) int {
	if len(d.attrs) == 1 || d.idInHead < 0 || len(r.body) < 8*d.idInHead+8 {
		return 0
	}
	event, ok := d.byID[binary.LittleEndian.Uint64(r.body[8*d.idInHead:])]
	if !ok {
		d.unmatched++
	}
	return event
}

// eachReading parses the counters in a sample (perf_event_open(2), read_format), and calls f for
// those with the id of their event.
func eachReading(c *cursor, format uint64, f func(id, value uint64)) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	times := uint64(bits.OnesCount64(format & (enabled | running)))
	n := uint64(1)
	if format&group != 0 {
		n = c.u64()
		c.words(times)
		times = 0 // reported once
	}
	if each := 1 + times + uint64(bits.OnesCount64(format&(id|lost))); n > uint64(len(c.b))/8/each {
		c.b, c.short = nil, true
		return
	}
	for range n {
		value := c.u64()
		c.words(times)
		if format&id != 0 {
			f(c.u64(), value)
		}
		c.words((format & lost) / lost)
	}
}

// reading records the value of a counter that the file lists; it is cumulative from the beginning
// of the recording.
func (d *decoder) reading(id, value uint64) {
	if _, known := d.byID[id]; known {
		d.readings[id] = max(d.readings[id], value)
	}
}

// addReadings sets each event's count to its counter's last value.
func (d *decoder) addReadings() {
	for id, value := range d.readings {
		e := &d.p.Events[d.byID[id]]
		if e.Counted += value; e.Counted < value {
			e.Counted = math.MaxUint64
		}
	}
}

// listed returns the thread's index in Profile.Threads.
func (d *decoder) listed(t *task) int {
	if t.listed < 0 {
		t.listed = len(d.p.Threads)
		d.p.Threads = append(d.p.Threads, Thread{PID: int(t.pid), TID: int(t.tid), Name: t.name})
	}
	return t.listed
}

// chain returns the sample's call chain: the sampled address, then its callers.
func (d *decoder) chain(t *task, inKernel bool, ip uint64, callers []byte) []uint32 {
	out := d.room(1 + len(callers)/8)
	out = append(out, d.frame(t, ip, inKernel))
	for first := true; len(callers) >= 8; callers = callers[8:] {
		at := binary.LittleEndian.Uint64(callers)
		switch {
		case at == contextKernel:
			inKernel = true
		case at == contextUser:
			inKernel = false
		case at >= contextMax:
		case first && at == ip: // most chains begin with the sampled address
			first = false
		default:
			first = false
			out = append(out, d.frame(t, at, inKernel))
		}
	}
	d.chains = d.chains[len(out):]
	return out[:len(out):len(out)]
}

// room returns an empty slice with capacity n, cut from a larger one.
func (d *decoder) room(n int) []uint32 {
	if n > cap(d.chains) {
		d.chains = make([]uint32, max(n, 1<<13))
	}
	return d.chains[:0:n]
}

// frame returns the index of an address in Profile.Frames.
func (d *decoder) frame(t *task, address uint64, inKernel bool) uint32 {
	in := t.memory
	if inKernel {
		in = &d.tasks.kernel
	}
	m := in.find(address)
	key := frameKey{address: address}
	if m != nil {
		key.file, key.offset = m.file, m.file.address(address, m)
	}
	if place, ok := d.frames[key]; ok {
		return place
	}
	if len(d.p.Frames) >= MaxFrames {
		d.warnOnce(0, "there are more different frames than are read; the others stay unknown")
		key = frameKey{}
		if place, ok := d.frames[key]; ok {
			return place
		}
	}
	place := uint32(len(d.p.Frames))
	d.frames[key] = place
	d.p.Frames = append(d.p.Frames, d.resolve(key, inKernel))
	return place
}

// resolve finds the name of a frame.
func (d *decoder) resolve(k frameKey, inKernel bool) Frame {
	f := Frame{Address: k.address, Offset: k.offset, Kind: Unknown}
	if k.file == nil {
		if inKernel {
			f.Kind = Kernel
		}
		return f
	}
	f.File, f.Kind = k.file.reportPath(), k.file.codeKind()
	f.Symbol = k.file.name(k.offset)
	if f.Symbol == "" && k.file.kind == kernelModule {
		// A module's symbols may be in the kernel's own list.
		if name := d.files.kernel.name(k.address); name != "" {
			f.Symbol, f.File, f.Offset = name, kernelName, k.address
		}
	}
	return f
}
