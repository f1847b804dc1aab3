// Package perfdata writes recordings in the format of Android's simpleperf: perf.data with one
// software event, call chains, and the symbols of the records.
//
// It owns the encoding and the layout of code in memory. It does not know what runs (package
// phone does), and reads nothing. It writes what simpleperf writes after it has unwound the
// stacks, so that readers are never adapted to a simulation.
//
// Format: simpleperf/record_file_format.h and record_file.proto of AOSP's system/extras, and
// include/uapi/linux/perf_event.h of Linux.
package perfdata

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kind is simpleperf's type of a mapped file.
type Kind int

// Kinds of files: machine code, dex code, and the memory that ART compiles into.
const (
	ELF Kind = iota
	Dex
	JIT
)

// File is a file that is mapped into all processes of the recording.
type File struct {
	Path    string
	Kind    Kind
	Symbols []string
}

// Place is a location in the code.
type Place struct {
	File, Symbol int
	Offset       int // in the symbol, in bytes; limited to its size
}

// Thread is a thread with samples.
type Thread struct {
	PID, TID int
	Name     string
}

// Sample is one sample. Chain is the call chain, innermost first.
type Sample struct {
	At     time.Duration // on the clock in Meta
	Thread int
	CPU    int
	Period time.Duration
	Chain  []Place
	// Away is how long the thread is off its CPU from then on, for a sample of that (OffCPU); 0 for
	// one of the clock.
	Away time.Duration
}

// Recording is the input of a perf.data file.
type Recording struct {
	Config  uint64 // of the software event: CPUClock or TaskClock
	Hz      int
	Arch    string
	Command []string
	Meta    map[string]string
	Files   []File
	Threads []Thread
	Samples []Sample
	Lost    int
	// OffCPU adds the event sched:sched_switch, as --trace-offcpu does.
	OffCPU bool
}

// SwitchID is the number of the tracepoint sched:sched_switch.
const SwitchID = 91

// Software events of Linux.
const (
	CPUClock  = 0
	TaskClock = 1
)

// The layout of code: each file has its own range of memory, and all symbols have the same
// size. The first symbol of a file begins at the virtual address textAt.
const (
	firstFile  = uint64(0x7000000000)
	fileSize   = uint64(0x1000000)
	textAt     = uint64(0x1000)
	symbolSize = uint64(0x400)
	protRX     = 5
	protJIT    = 0x4000 // simpleperf's mark for symbols with the process's addresses
)

// address returns the address of a place in the process.
func address(p Place) uint64 {
	return firstFile + uint64(p.File)*fileSize + textAt + uint64(p.Symbol)*symbolSize + min(uint64(max(p.Offset, 0)), symbolSize-4)
}

// Constants of the format.
const (
	headerSize = 104
	attrSize   = 120 // of perf_event_attr, and 16 bytes for its ids
	eventID    = 7
	switchID   = 8 // of sched:sched_switch

	recordSwitch  = 14
	miscSwitchOut = 1 << 13

	recordLost   = 2
	recordComm   = 3
	recordSample = 9
	recordMmap2  = 10

	miscUser = 2

	featureArch    = 6
	featureCommand = 11
	featureMeta    = 129
	featureFile2   = 132

	// IP, TID, TIME, CALLCHAIN, ID, CPU, PERIOD
	sampleType  = 1 | 2 | 4 | 32 | 64 | 128 | 256
	contextUser = ^uint64(511)
)

// Bytes returns the encoded file.
func (r Recording) Bytes() []byte {
	records := r.records()
	attrs := [][]byte{r.attr(1, r.Config, uint64(r.Hz), frequency)} // PERF_TYPE_SOFTWARE
	if r.OffCPU {
		attrs = append(attrs, r.attr(2, SwitchID, 1, 0)) // PERF_TYPE_TRACEPOINT: each one
	}
	n := uint64(len(attrs))
	attrsAt := headerSize + 8*n
	dataAt := attrsAt + n*(attrSize+16)
	sections := []struct {
		number int
		data   []byte
	}{
		{featureArch, sized(r.Arch)},
		{featureCommand, r.command()},
		{featureMeta, r.meta()},
		{featureFile2, r.files()},
	}
	bits := make([]byte, 32)
	var table, content []byte
	at := dataAt + uint64(len(records)) + 16*uint64(len(sections))
	for _, s := range sections {
		bits[s.number/8] |= 1 << (s.number % 8)
		table = u64(table, at+uint64(len(content)), uint64(len(s.data)))
		content = append(content, s.data...)
	}
	b := []byte("PERFILE2")
	b = u64(b, headerSize, attrSize+16, attrsAt, n*(attrSize+16), dataAt, uint64(len(records)), 0, 0)
	b = append(b, bits...)
	for i := range n {
		b = u64(b, eventID+i)
	}
	for i, a := range attrs {
		b = u64(append(b, a...), headerSize+8*uint64(i), 8) // the section of the event's id
	}
	return slices.Concat(b, records, table, content)
}

// frequency is the flag of an event that is sampled by frequency.
const frequency = 1 << 10

// attr encodes a perf_event_attr: user space only.
func (r Recording) attr(kind uint32, config, rate, flags uint64) []byte {
	const excludeKernel, idOnAll, useClock, switches = 1 << 5, 1 << 18, 1 << 25, 1 << 26
	if flags |= excludeKernel | idOnAll | useClock; r.OffCPU && kind == 1 {
		flags |= switches
	}
	b := u32(nil, kind, attrSize)
	b = u64(b, config, rate, sampleType, 0, flags)
	b = append(b, make([]byte, attrSize-len(b))...)
	const clockAt, clockMonotonic = 92, 1
	binary.LittleEndian.PutUint32(b[clockAt:], clockMonotonic)
	return b
}

// records encodes all records: the maps, then the samples.
func (r Recording) records() []byte {
	var b []byte
	seen := map[int]bool{}
	for _, t := range r.Threads {
		if !seen[t.PID] {
			seen[t.PID] = true
			b = r.maps(b, t.PID)
		}
		body := u32(nil, uint32(t.PID), uint32(t.TID))
		b = record(b, recordComm, 0, idSuffix(append(body, padded(t.Name)...), t, 0, 0))
	}
	for _, e := range r.events() {
		b = append(b, e.record...)
	}
	if r.Lost > 0 {
		b = record(b, recordLost, 0, u64(nil, eventID, uint64(r.Lost)))
	}
	return b
}

// maps encodes the map records of a process's files.
func (r Recording) maps(b []byte, pid int) []byte {
	for i, f := range r.Files {
		prot := uint32(protRX)
		if f.Kind == JIT {
			prot |= protJIT
		}
		body := u32(nil, uint32(pid), uint32(pid))
		body = u64(body, firstFile+uint64(i)*fileSize, fileSize, 0)
		body = u32(body, 254, 9)
		body = u64(body, uint64(1000+i), 0)
		body = u32(body, prot, 2)
		body = append(body, padded(f.Path)...)
		b = record(b, recordMmap2, miscUser, idSuffix(body, Thread{PID: pid, TID: pid}, 0, 0))
	}
	return b
}

// timed is a record with its time.
type timed struct {
	at     time.Duration
	record []byte
}

// events encodes the samples, by time: one of a thread that leaves its CPU has a record of that
// behind it, and another where it returns.
func (r Recording) events() (out []timed) {
	for _, s := range r.Samples {
		out = append(out, timed{s.At, record(nil, recordSample, miscUser, r.sample(s))})
		if t := r.Threads[s.Thread]; s.Away > 0 {
			back := s.At + s.Away
			out = append(out, timed{s.At, record(nil, recordSwitch, miscSwitchOut, idSuffix(nil, t, s.At, s.CPU))},
				timed{back, record(nil, recordSwitch, 0, idSuffix(nil, t, back, s.CPU))})
		}
	}
	slices.SortStableFunc(out, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	return out
}

func (r Recording) sample(s Sample) []byte {
	t, id, period := r.Threads[s.Thread], uint64(eventID), uint64(s.Period)
	if s.Away > 0 {
		id, period = switchID, 1 // one switch
	}
	b := u64(nil, address(s.Chain[0]))
	b = u32(b, uint32(t.PID), uint32(t.TID))
	b = u64(b, uint64(s.At), id)
	b = u32(b, uint32(s.CPU), 0)
	b = u64(b, period, uint64(len(s.Chain)+1), contextUser)
	for _, p := range s.Chain {
		b = u64(b, address(p))
	}
	return b
}

// idSuffix encodes the end of all records other than samples (sample_id_all).
func idSuffix(b []byte, t Thread, at time.Duration, cpu int) []byte {
	b = u32(b, uint32(t.PID), uint32(t.TID))
	b = u64(b, uint64(at), eventID)
	return u32(b, uint32(cpu), 0)
}

func (r Recording) command() []byte {
	b := u32(nil, uint32(len(r.Command)))
	for _, word := range r.Command {
		b = append(b, sized(word)...)
	}
	return b
}

// meta encodes pairs of NUL-terminated strings.
func (r Recording) meta() []byte {
	keys := make([]string, 0, len(r.Meta))
	for k := range r.Meta {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b []byte
	for _, k := range keys {
		b = append(b, k+"\x00"+r.Meta[k]+"\x00"...)
	}
	return b
}

// files encodes FileFeature messages, each with its size.
func (r Recording) files() []byte {
	const typeELF, typeDex = 2, 3
	var b []byte
	for i, f := range r.Files {
		kind, base := uint64(typeELF), uint64(0)
		switch f.Kind {
		case Dex:
			kind = typeDex
		case JIT:
			base = firstFile + uint64(i)*fileSize
		}
		m := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), f.Path)
		m = number(number(m, 2, kind), 3, base+textAt)
		for n, name := range f.Symbols {
			s := number(number(nil, 1, base+textAt+uint64(n)*symbolSize), 2, symbolSize)
			s = protowire.AppendString(protowire.AppendTag(s, 3, protowire.BytesType), name)
			m = protowire.AppendBytes(protowire.AppendTag(m, 4, protowire.BytesType), s)
		}
		if kind == typeELF {
			m = protowire.AppendBytes(protowire.AppendTag(m, 6, protowire.BytesType), number(nil, 1, textAt))
		}
		b = append(u32(b, uint32(len(m))), m...)
	}
	return b
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

// record adds the kernel's header to a body.
func record(b []byte, kind uint32, misc uint16, body []byte) []byte {
	b = u32(b, kind)
	b = binary.LittleEndian.AppendUint16(b, misc)
	b = binary.LittleEndian.AppendUint16(b, uint16(8+len(body)))
	return append(b, body...)
}

func u32(b []byte, values ...uint32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func u64(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// padded encodes a NUL-terminated string, padded to a multiple of 8 bytes.
func padded(s string) []byte {
	return append([]byte(s), strings.Repeat("\x00", 8-len(s)%8)...)
}

// sized encodes a string with its length, which includes the NUL and the padding to a multiple
// of 64 bytes.
func sized(s string) []byte {
	n := (len(s)/64 + 1) * 64
	return append(u32(nil, uint32(n)), s+strings.Repeat("\x00", n-len(s))...)
}
