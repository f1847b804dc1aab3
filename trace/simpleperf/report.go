package simpleperf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/apkgate/apkgate/trace"
)

// reportVersion is the only version of report-sample's format.
const reportVersion = 1

// report reads the output of report-sample, whose files, threads and events may follow the samples
// that refer to them.
type report struct {
	p        *Profile
	warnings trace.Warnings
	files    map[uint32]reportFile
	frames   map[reportFrame]uint32
	keys     []reportFrame  // of Profile.Frames
	threads  map[uint32]int // ids to indices in Profile.Threads
	samples  uint64         // as stated in the file
	counted  bool           // samples is stated
	dropped  int
	symbols  int // of files, read so far
}

type reportFile struct {
	path    string
	symbols []string
}

// reportFrame is a CallChainEntry.
type reportFrame struct {
	address uint64 // in the file
	file    uint32
	symbol  int32 // -1 if unknown
	kind    uint32
}

// reportKinds are the values of CallChainEntry.ExecutionType.
var reportKinds = []Kind{Native, Interpreted, JIT, Runtime}

// readReport reads length-prefixed records, up to a length of zero (cmd_report_sample.proto).
func readReport(p *Profile, data []byte) {
	p.Source, p.Recorder, p.Clock = ReportSample, "simpleperf", "monotonic"
	r := &report{p: p, files: map[uint32]reportFile{}, frames: map[reportFrame]uint32{}, threads: map[uint32]int{}}
	r.read(data)
	r.resolve()
	p.Warnings = r.warnings.List()
}

func (r *report) warn(at int, format string, args ...any) {
	r.warnings.Addf(0, "byte %d: "+format, append([]any{at}, args...)...)
}

func (r *report) read(data []byte) {
	at := len(reportMagic) + 2
	if len(data) < at {
		r.warn(len(data), "the file ends in its header")
		return
	}
	if v := binary.LittleEndian.Uint16(data[at-2:]); v != reportVersion {
		r.warn(at-2, "report-sample's format has version %d, of which only %d can be read", v, reportVersion)
		return
	}
	for {
		if len(data)-at < 4 {
			r.warn(at, "the file ends without its last record: it is incomplete")
			return
		}
		size := uint64(binary.LittleEndian.Uint32(data[at:]))
		at += 4
		if size == 0 {
			return
		}
		if size > uint64(len(data)-at) {
			r.warn(at, "a record has %d bytes, but only %d are left: the file is incomplete", size, len(data)-at)
			return
		}
		if err := r.record(data[at : at+int(size)]); err != nil {
			r.warn(at, "a record of %d bytes can't be read: %v", size, err)
		}
		at += int(size)
	}
}

// record parses one message Record.
func (r *report) record(b []byte) error {
	return eachField(b, func(f protoField) error {
		switch f.number {
		case 1:
			r.p.Records["sample"]++
			return r.sample(f.bytes)
		case 2:
			r.p.Records["lost"]++
			return r.lost(f.bytes)
		case 3:
			r.p.Records["file"]++
			return r.file(f.bytes)
		case 4:
			r.p.Records["thread"]++
			return r.thread(f.bytes)
		case 5:
			r.p.Records["meta_info"]++
			return r.meta(f.bytes)
		case 6:
			r.p.Records["context_switch"]++
		default:
			r.p.Records["other"]++
		}
		return nil
	})
}

func (r *report) sample(b []byte) error {
	s := Sample{CPU: -1}
	var tid uint32
	err := eachField(b, func(f protoField) error {
		switch f.number {
		case 1:
			s.Time = time.Duration(min(f.value, math.MaxInt64))
		case 2:
			tid = uint32(f.value)
		case 3:
			place, err := r.frame(f.bytes)
			s.Chain = append(s.Chain, place)
			return err
		case 4:
			s.Period = f.value
		case 5:
			s.Event = int(min(f.value, math.MaxInt32))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	if len(r.p.Samples) >= MaxSamples {
		r.dropped++
		return nil
	}
	place, ok := r.threads[tid]
	if !ok {
		place = len(r.p.Threads)
		r.threads[tid] = place
		r.p.Threads = append(r.p.Threads, Thread{TID: int(tid)})
	}
	s.Thread = place
	r.p.Samples = append(r.p.Samples, s)
	return nil
}

// frame parses a CallChainEntry; it is named once all files are read.
func (r *report) frame(b []byte) (uint32, error) {
	key := reportFrame{symbol: -1}
	err := eachField(b, func(f protoField) error {
		switch f.number {
		case 1:
			key.address = f.value
		case 2:
			key.file = uint32(f.value)
		case 3:
			key.symbol = int32(f.value)
		case 4:
			key.kind = uint32(f.value)
		}
		return nil
	})
	place, ok := r.frames[key]
	if ok || err != nil {
		return place, err
	}
	if len(r.keys) >= MaxFrames {
		return 0, fmt.Errorf("there are more than %d different frames", MaxFrames)
	}
	place = uint32(len(r.keys))
	r.frames[key] = place
	r.keys = append(r.keys, key)
	return place, nil
}

func (r *report) lost(b []byte) error {
	return eachField(b, func(f protoField) error {
		switch f.number {
		case 1:
			r.samples, r.counted = f.value, true
		case 2:
			r.p.Lost = f.value
		}
		return nil
	})
}

// file parses a file with its symbols. C++ and Rust names stay mangled, as in perf.data, if the
// file has the mangled ones, so that a function has one name whichever file it was read from. Java
// names are already the better ones.
func (r *report) file(b []byte) error {
	var id uint32
	var out reportFile
	mangled := 0 // they follow the symbols, in the same order
	err := eachField(b, func(f protoField) error {
		switch f.number {
		case 1:
			id = uint32(f.value)
		case 2:
			out.path = plain(f.bytes)
		case 3:
			if r.symbols++; r.symbols > MaxSymbols {
				return fmt.Errorf("the files have more than %d symbols", MaxSymbols)
			}
			out.symbols = append(out.symbols, plain(f.bytes))
		case 4:
			if mangled < len(out.symbols) && isMangled(f.bytes) {
				out.symbols[mangled] = plain(f.bytes)
			}
			mangled++
		}
		return nil
	})
	r.files[id] = out
	return err
}

// isMangled reports whether a name is a mangled one of C++ or Rust, including the dynamic linker's
// own code (Dso::Demangle in simpleperf/dso.cpp).
func isMangled(name []byte) bool {
	name = bytes.TrimPrefix(name, []byte("__dl_"))
	return bytes.HasPrefix(name, []byte("_Z")) || bytes.HasPrefix(name, []byte("_R"))
}

func (r *report) thread(b []byte) error {
	var tid uint32
	var t Thread
	err := eachField(b, func(f protoField) error {
		switch f.number {
		case 1:
			tid = uint32(f.value)
		case 2:
			t.PID = int(uint32(f.value))
		case 3:
			t.Name = plain(f.bytes)
		}
		return nil
	})
	t.TID = int(tid)
	if place, ok := r.threads[tid]; ok {
		r.p.Threads[place] = t
	} else {
		r.threads[tid] = len(r.p.Threads)
		r.p.Threads = append(r.p.Threads, t)
	}
	return err
}

// metaKeys maps the fields of MetaInfo that are strings to the names in perf.data's meta info.
var metaKeys = map[uint64]string{
	2: "app_package_name", 3: "app_type", 4: "android_sdk_version", 5: "android_build_type",
}

func (r *report) meta(b []byte) error {
	return eachField(b, func(f protoField) error {
		switch {
		case f.number == 1 && len(r.p.Events) < maxEvents:
			r.p.Events = append(r.p.Events, Event{Name: eventName(plain(f.bytes))})
		case f.number == 6:
			r.p.Meta["trace_offcpu"] = fmt.Sprint(f.value != 0)
		case metaKeys[f.number] != "":
			r.p.Meta[metaKeys[f.number]] = plain(f.bytes)
		}
		return nil
	})
}

// resolve names frames and events, and compares the samples with the file's own count.
func (r *report) resolve() {
	unknown := 0
	for _, k := range r.keys {
		f := Frame{Offset: k.address, Kind: Unknown}
		if int(k.kind) < len(reportKinds) {
			f.Kind = reportKinds[k.kind]
		}
		file, ok := r.files[k.file]
		if !ok {
			unknown++
		}
		f.File = file.path
		if k.symbol >= 0 && int(k.symbol) < len(file.symbols) {
			f.Symbol = file.symbols[k.symbol]
		}
		f.Kind = reportedKind(f)
		r.p.Frames = append(r.p.Frames, f)
	}
	if unknown > 0 {
		r.warnings.Counted(0, unknown,
			"%d frame is of a file that is not listed",
			"%d frames are of files that are not listed")
	}
	r.nameEvents()
	if total := uint64(len(r.p.Samples) + r.dropped); r.counted && r.samples != total {
		r.warnings.Addf(0, "the file states %d samples, %d are in it", r.samples, total)
	}
	if r.dropped > 0 {
		r.warnings.Counted(0, r.dropped,
			"%d sample beyond the first %d is not read",
			"%d samples beyond the first %d are not read", MaxSamples)
	}
}

// reportedKind splits the kinds that report-sample calls native.
func reportedKind(f Frame) Kind {
	switch {
	case f.Kind != Native:
		return f.Kind
	case f.File == kernelName || moduleFile(f.File):
		return Kernel
	case compiled(f.File):
		return AOT
	}
	return Native
}

// nameEvents assigns samples of an event that the file does not name to a placeholder event.
func (r *report) nameEvents() {
	named, nameless := len(r.p.Events), 0
	for i := range r.p.Samples {
		if s := &r.p.Samples[i]; s.Event >= named {
			s.Event = named
			nameless++
		}
	}
	if nameless > 0 {
		r.p.Events = append(r.p.Events, Event{Name: "unknown"})
		r.warnings.Counted(0, nameless,
			"%d sample is of an event that the file does not name",
			"%d samples are of an event that the file does not name")
	}
}
