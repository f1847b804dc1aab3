package simpleperf

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Types of records: the kernel's, those of perf (from 64), and those of simpleperf (from 32768,
// with sizes of 32 bits).
const (
	recordMmap        = 1
	recordLost        = 2
	recordComm        = 3
	recordExit        = 4
	recordFork        = 7
	recordSample      = 9
	recordMmap2       = 10
	recordLostSamples = 13
	recordAuxTrace    = 71
	recordCompressed  = 81
	recordPadded      = 83 // PERF_RECORD_COMPRESSED2, which states its size without padding
	recordSimpleperf  = 32768
	recordKallsyms    = 32769
	recordSplit       = 32772
	recordSplitEnd    = 32773
	recordEventID     = 32774
)

var recordNames = map[uint32]string{
	recordMmap: "mmap", recordLost: "lost", recordComm: "comm", recordExit: "exit", 5: "throttle", 6: "unthrottle",
	recordFork: "fork", 8: "read", recordSample: "sample", recordMmap2: "mmap2", 11: "aux", 12: "itrace_start",
	recordLostSamples: "lost_samples", recordSwitch: "switch", 15: "switch_cpu_wide", 17: "ksymbol", 18: "bpf_event",
	66: "tracing_data", 67: "build_id", 68: "finished_round", 70: "auxtrace_info", recordAuxTrace: "auxtrace",
	recordCompressed: "compressed", recordPadded: "compressed", recordKallsyms: "kernel_symbol", 32770: "dso", 32771: "symbol",
	recordSplit: "split", recordSplitEnd: "split_end", recordEventID: "event_id", 32775: "callchain",
	32776: "unwinding_result", 32777: "tracing_data", 32778: "debug",
}

// record is one record: its header and its body.
type record struct {
	kind uint32
	misc uint16
	at   uint64 // in the file
	body []byte
}

// The low bits of misc state whose code ran.
const (
	miscWhose  = 7
	miscKernel = 1
)

func (r record) inKernel() bool { return r.misc&miscWhose == miscKernel }

// packed returns a record's part of the compressed stream; ok is false for other records.
func (r record) packed() (b []byte, ok bool) {
	switch r.kind {
	case recordCompressed:
		return r.body, true
	case recordPadded:
		c := cursor{b: r.body}
		return c.take(c.u64()), true
	}
	return nil, false
}

// section reads a section's records, whose compressed ones are one stream.
func (d *decoder) section(b []byte, at uint64) {
	d.inflated = false
	d.records(b, at)
}

// records reads consecutive records; at is the offset of b in the file.
func (d *decoder) records(b []byte, at uint64) {
	for len(b) > 0 {
		r, size, err := nextRecord(b)
		r.at = at
		if err != nil {
			d.warn(at, "%v; the %d bytes from here on are not read", err, len(b))
			return
		}
		d.count(r.kind)
		skip := uint64(size)
		switch r.kind {
		case recordAuxTrace: // followed by data without a header
			c := cursor{b: r.body}
			size := c.u64()
			d.p.Trace = span(d.p.Trace, size)
			skip = span(skip, size)
		case recordCompressed, recordPadded:
			if !d.inflated && !d.nested {
				d.inflated = true
				d.inflate(b, at)
			}
		case recordSplit, recordSplitEnd:
			d.join(r)
		default:
			d.apply(r)
		}
		if skip > uint64(len(b)) {
			d.warn(at, "trace data of %d bytes extends beyond the end of the records", skip)
			return
		}
		b, at = b[skip:], at+skip
		if d.nested {
			at = r.at // uncompressed records have no offset of their own
		}
	}
}

// nextRecord parses the record at the beginning of b, and returns its size.
func nextRecord(b []byte) (record, int, error) {
	if len(b) < 8 {
		return record{}, 0, fmt.Errorf("the records end with %d odd bytes", len(b))
	}
	c := cursor{b: b}
	r := record{kind: c.u32()}
	low, high := c.u32()&0xFFFF, uint32(b[6])|uint32(b[7])<<8
	size := int(high)
	if r.kind >= recordSimpleperf {
		size = int(low<<16 | high)
	} else {
		r.misc = uint16(low)
	}
	if size < 8 {
		return r, 0, fmt.Errorf("a record of type %d claims a size of %d bytes, less than its header", r.kind, size)
	}
	if size > len(b) {
		return r, 0, fmt.Errorf("a record of type %d has %d bytes, but only %d are left", r.kind, size, len(b))
	}
	r.body = b[8:size]
	return r, size, nil
}

func (d *decoder) count(kind uint32) {
	name, ok := recordNames[kind]
	if !ok {
		name = "other"
	}
	d.p.Records[name]++
}

// join assembles a record that simpleperf had to split, since the kernel's header can't state its
// size.
func (d *decoder) join(r record) {
	if r.kind == recordSplit {
		if len(d.split)+len(r.body) > MaxFile {
			d.warnOnce(r.at, "a split record is too large")
			return
		}
		d.split = append(d.split, r.body...)
		return
	}
	whole, size, err := nextRecord(d.split)
	if err == nil && size != len(d.split) {
		err = fmt.Errorf("it has %d bytes, its parts have %d", size, len(d.split))
	}
	if err != nil || whole.kind == recordSplit || whole.kind == recordSplitEnd {
		d.warn(r.at, "a split record can't be assembled: %v", err)
	} else {
		whole.at = r.at
		d.count(whole.kind)
		d.apply(whole)
	}
	d.split = nil
}

// inflate reads all compressed records from here on as one stream of Zstandard. Uncompressed
// records between them are read after it.
func (d *decoder) inflate(b []byte, at uint64) {
	var packed []byte
	for len(b) > 0 {
		r, size, err := nextRecord(b)
		if err != nil {
			break // reported by the calling loop
		}
		skip := uint64(size)
		if part, ok := r.packed(); ok {
			packed = append(packed, part...)
		} else if r.kind == recordAuxTrace {
			c := cursor{b: r.body}
			size := c.u64()
			d.p.Trace = span(d.p.Trace, size)
			skip = span(skip, size)
		}
		b = b[min(skip, uint64(len(b))):]
	}
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxFile))
	if err != nil {
		d.warn(at, "the compressed records can't be read: %v", err)
		return
	}
	defer z.Close()
	plain, err := readAll(z)
	if err != nil {
		d.warn(at, "the compressed records end early, after %d bytes: %v", len(plain), err)
	}
	if len(plain) > MaxFile {
		d.warn(at, "only the first %d MiB of the compressed records are read", MaxFile>>20)
		plain = plain[:MaxFile]
	}
	d.nested = true
	d.records(plain, at)
	d.nested = false
}

// apply applies a record.
func (d *decoder) apply(r record) {
	c := cursor{b: r.body}
	switch r.kind {
	case recordSample:
		d.sample(r)
		return
	case recordMmap, recordMmap2:
		d.mapFile(r, &c)
	case recordComm:
		pid, tid := c.u32(), c.u32()
		if name := field(c.b); !c.short {
			d.tasks.rename(pid, tid, name)
		}
	case recordFork, recordExit:
		d.forkOrExit(r, &c)
	case recordLost:
		c.skip(8) // the event's id
		d.p.Lost += c.u64()
	case recordLostSamples:
		d.p.Lost += c.u64()
	case recordKallsyms:
		if text := c.take(uint64(c.u32())); text != nil {
			d.symbols += d.files.kallsyms(text, MaxSymbols-d.symbols)
		}
	case recordEventID:
		d.eventIDs(&c)
	case recordSwitch:
		d.switched(r, &c)
	}
	if c.short {
		d.warn(r.at, "a record of type %d is too short, with %d bytes", r.kind, len(r.body))
	}
}

// protJIT marks a mapping whose file's symbols are addresses of the process (map_flags of
// simpleperf/thread_tree.h).
const protJIT = 0x4000

func (d *decoder) mapFile(r record, c *cursor) {
	pid, tid := c.u32(), c.u32()
	start, length, offset := c.u64(), c.u64(), c.u64()
	var prot uint32
	if r.kind == recordMmap2 {
		c.skip(24) // device and inode, or build id
		prot = c.u32()
		c.skip(4) // flags
	}
	name := field(c.b)
	if c.short || length == 0 {
		return // without privileges the kernel's mapping has no size
	}
	m := mapping{start: start, end: span(start, length), offset: offset, jit: prot&protJIT != 0}
	into := &d.tasks.kernel
	if !r.inKernel() {
		into = d.tasks.find(pid, tid).memory
		if r.kind == recordMmap2 && name == "//anon" {
			name = "[unknown]"
		}
	}
	m.file = d.files.mapped(name, r.inKernel())
	if !d.tasks.put(into, m) {
		d.warnOnce(r.at, fmt.Sprintf("a process has more than %d mappings, or changes them too often: some frames stay unknown", maxMappings))
	}
}

func (d *decoder) forkOrExit(r record, c *cursor) {
	pid, parentPID, tid, parentTID := c.u32(), c.u32(), c.u32(), c.u32()
	switch {
	case c.short:
	case r.kind == recordExit:
		delete(d.away.since, tid)
		d.tasks.exit(pid, tid)
	case !d.tasks.fork(pid, tid, parentPID, parentTID):
		d.warnOnce(r.at, "there are too many forks: some frames of new processes stay unknown")
	}
}

// eventIDs parses pairs of an event's index and one of its ids.
func (d *decoder) eventIDs(c *cursor) {
	for count := c.u64(); count > 0 && !c.short; count-- {
		place, id := c.u64(), c.u64()
		if !c.short && place < uint64(len(d.attrs)) && !d.identify(id, int(place)) {
			return
		}
	}
}
