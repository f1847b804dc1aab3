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
}

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
	attrsAt := uint64(headerSize + 8)
	dataAt := attrsAt + attrSize + 16
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
	b = u64(b, headerSize, attrSize+16, attrsAt, attrSize+16, dataAt, uint64(len(records)), 0, 0)
	b = append(b, bits...)
	b = u64(b, eventID)
	b = append(b, r.attr()...)
	b = u64(b, headerSize, 8) // the section of the event's id
	return slices.Concat(b, records, table, content)
}

// attr encodes the perf_event_attr: sampling by frequency, user space only.
func (r Recording) attr() []byte {
	const frequency, excludeKernel, idOnAll, useClock = 1 << 10, 1 << 5, 1 << 18, 1 << 25
	b := u32(nil, 1, attrSize) // PERF_TYPE_SOFTWARE
	b = u64(b, r.Config, uint64(r.Hz), sampleType, 0, frequency|excludeKernel|idOnAll|useClock)
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
	for _, s := range r.Samples {
		b = record(b, recordSample, miscUser, r.sample(s))
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

func (r Recording) sample(s Sample) []byte {
	t := r.Threads[s.Thread]
	b := u64(nil, address(s.Chain[0]))
	b = u32(b, uint32(t.PID), uint32(t.TID))
	b = u64(b, uint64(s.At), eventID)
	b = u32(b, uint32(s.CPU), 0)
	b = u64(b, uint64(s.Period), uint64(len(s.Chain)+1), contextUser)
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
