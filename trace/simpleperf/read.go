package simpleperf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Limits of a file. What exceeds them is counted, not kept.
const (
	MaxFile    = 256 << 20 // bytes of the file, and of its uncompressed records
	MaxSamples = 4 << 20
	MaxFrames  = 2 << 20 // distinct ones
	MaxSymbols = 4 << 20 // of all files together
	maxIDs     = 1 << 20 // of events: one for each event, thread and CPU
)

const (
	perfMagic   = "PERFILE2"
	reportMagic = "SIMPLEPERF"
)

// Read reads a perf.data file or the output of report-sample, distinguished by their first bytes.
// For any other file it returns a profile with the Source Nothing and a warning. It returns an
// error only where reading r fails.
func Read(r io.Reader) (*Profile, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, fmt.Errorf("read a recording after %d bytes: %w", len(data), err)
	}
	p := &Profile{Meta: map[string]string{}, Records: map[string]int{}}
	var cut []run.Warning
	if len(data) > MaxFile {
		data = data[:MaxFile]
		cut = []run.Warning{{Text: fmt.Sprintf("only the first %d MiB of the file were read", MaxFile>>20)}}
	}
	switch {
	case bytes.HasPrefix(data, []byte(perfMagic)):
		readPerfData(p, data)
	case bytes.HasPrefix(data, []byte(reportMagic)):
		readReport(p, data)
	default:
		p.Warnings = []run.Warning{{Text: otherFormat(data)}}
	}
	p.Warnings = append(cut, p.Warnings...)
	return p, nil
}

// readAll reads a file up to the limit, and one byte more if there is more. A large file of unknown
// size gets a buffer of the maximum size at once instead of being copied from slice to slice: pages
// that are never touched take no memory.
func readAll(r io.Reader) ([]byte, error) {
	const first, large = 1 << 20, 16 << 20
	size := int64(first)
	if sized, ok := r.(interface{ Size() int64 }); ok {
		size = sized.Size() + 1 // for the end of the file
	}
	data := make([]byte, 0, min(max(size, 1), MaxFile+1))
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil || len(data) > MaxFile:
			return data, err
		case len(data) == cap(data):
			room := 2 * cap(data)
			if room > large {
				room = MaxFile + 1
			}
			data = append(make([]byte, 0, room), data...)
		}
	}
}

// otherFormat describes a file of neither format, as far as its beginning shows.
func otherFormat(data []byte) string {
	switch {
	case len(data) == 0:
		return "the file is empty: nothing was recorded, or the file was not pulled completely"
	case bytes.HasPrefix(data, []byte("2ELIFREP")):
		return "the file is perf.data of a big-endian machine; only little-endian ones are read"
	}
	return fmt.Sprintf("the file is not a simpleperf recording: it begins with %s, not with %q or %q",
		trace.Quote(data[:min(len(data), 10)]), perfMagic, reportMagic)
}

// section is a part of the file.
type section struct{ offset, size uint64 }

func (c *cursor) section() section { return section{offset: c.u64(), size: c.u64()} }

// decoder decodes one perf.data file.
type decoder struct {
	p        *Profile
	data     []byte
	warnings trace.Warnings
	warned   map[string]bool // warnings that are added once

	attrs     []attr
	byID      map[uint64]int // event ids to indices in attrs
	ids       int            // ids read so far
	idInHead  int            // the id's place in a sample, in numbers of 8 bytes; -1 if it has none
	files     files
	symbols   int // of files, read so far
	tasks     *tasks
	frames    map[frameKey]uint32
	chains    []uint32          // free room for chains
	split     []byte            // a split record, as far as it was read
	inflated  bool              // the compressed records of this section are done
	nested    bool              // the current records were compressed
	unmatched int               // samples with an unknown event id
	readings  map[uint64]uint64 // the last value of each counter, by the id of its event
	away      away
}

func (d *decoder) warn(at uint64, format string, args ...any) {
	d.warnings.Addf(0, "byte %d: "+format, append([]any{at}, args...)...)
}

// warnOnce adds a warning that could recur with every record, once.
func (d *decoder) warnOnce(at uint64, text string) {
	if !d.warned[text] {
		d.warned[text] = true
		d.warn(at, "%s", text)
	}
}

// slice returns a section's bytes, with a warning for what is beyond the end of the file.
func (d *decoder) slice(s section, what string) []byte {
	size := uint64(len(d.data))
	if s.offset > size || s.size > size-s.offset {
		d.warn(min(s.offset, size), "%s should have %d bytes, but the file ends at byte %d", what, s.size, size)
		if s.offset > size {
			return nil
		}
		s.size = size - s.offset
	}
	return d.data[s.offset:][:s.size]
}

// readPerfData reads the file header (struct perf_file_header), the attributes, the features and
// then the records, which need both.
func readPerfData(p *Profile, data []byte) {
	p.Source, p.Recorder = PerfData, "perf"
	d := &decoder{
		p: p, data: data, warned: map[string]bool{}, byID: map[uint64]int{},
		files: newFiles(), tasks: newTasks(), frames: map[frameKey]uint32{}, readings: map[uint64]uint64{}, away: away{since: map[uint32]int{}},
	}
	d.read()
	p.Warnings = d.warnings.List()
}

func (d *decoder) read() {
	c := cursor{b: d.data[len(perfMagic):]}
	headerSize, attrSize := c.u64(), c.u64()
	if headerSize == 16 {
		d.warn(8, "this is perf's pipe mode, which is not read; record into a file")
		return
	}
	attrs, records := c.section(), c.section()
	c.section() // event types, unused since Linux 3.1
	bits := c.take(features / 8)
	if c.short {
		d.warn(uint64(len(d.data)), "the file ends in its header")
		return
	}
	if !d.readAttrs(attrs, attrSize) {
		return
	}
	if records.size == 0 && records.offset < uint64(len(d.data)) && bytes.Count(bits, []byte{0}) == len(bits) {
		records.size = uint64(len(d.data)) - records.offset
		d.warn(records.offset, "the recording was not finished: the file has no symbols and no metadata")
	}
	sections := d.readFeatures(bits, records)
	if f, ok := sections[featureInitMap]; ok {
		d.section(f.data, f.at)
	}
	d.section(d.slice(records, "the data section"), records.offset)
	d.addAway()
	d.addLosses()
	d.addReadings()
	for i := range d.p.Threads {
		t := &d.p.Threads[i]
		t.Process = d.tasks.mains[uint32(t.PID)]
	}
	if d.unmatched > 0 {
		d.warnings.Counted(0, d.unmatched,
			"%d sample has the id of no event; it is counted as %s",
			"%d samples have the id of no event; they are counted as %s", d.p.Events[0].Name)
	}
}

// readAttrs reads the events and their ids. It returns false if there are none.
func (d *decoder) readAttrs(at section, size uint64) bool {
	const ids = 16 // each ends with a section of ids
	if size < attrMin+ids || size > math.MaxUint16 || at.size/size == 0 {
		d.warn(24, "the file lists no events (%d bytes of them, %d bytes each)", at.size, size)
		return false
	}
	b := d.slice(at, "the list of events")
	if len(b)/int(size) > maxEvents {
		d.warn(at.offset, "only %d of %d events are read", maxEvents, len(b)/int(size))
		b = b[:maxEvents*int(size)]
	}
	for ; uint64(len(b)) >= size; b = b[size:] {
		a := parseAttr(b[:size-ids])
		list := cursor{b: b[size-ids : size]}
		idBytes := d.slice(list.section(), "the ids of an event")
		for ; len(idBytes) >= 8 && d.identify(binary.LittleEndian.Uint64(idBytes), len(d.attrs)); idBytes = idBytes[8:] {
		}
		d.attrs = append(d.attrs, a)
	}
	d.idInHead = idPlace(d.attrs)
	if d.idInHead < 0 && len(d.attrs) > 1 {
		d.warn(at.offset, "the events' samples differ before their id: all are counted as the first event")
	}
	return len(d.attrs) > 0
}

// identify records an id of an event. It returns false if there are too many.
func (d *decoder) identify(id uint64, event int) bool {
	if d.ids++; d.ids > maxIDs {
		d.warnOnce(0, fmt.Sprintf("the events have more than %d ids: samples of the others are counted as the first event", maxIDs))
		return false
	}
	d.byID[id] = event
	return true
}

// maxEvents limits the events of one file.
const maxEvents = 1 << 12

// idPlace returns the place of the event's id in all samples: first, or after fields common to all.
// It returns -1 if there is no common place.
func idPlace(attrs []attr) int {
	const before = sampleIdentifier | sampleIP | sampleTID | sampleTime | sampleAddr
	all, same := uint64(math.MaxUint64), true
	for _, a := range attrs {
		all &= a.sampleType
		same = same && a.sampleType&before == attrs[0].sampleType&before
	}
	switch {
	case all&sampleIdentifier != 0:
		return 0
	case all&sampleID != 0 && same:
		place := 0
		for _, bit := range []uint64{sampleIP, sampleTID, sampleTime, sampleAddr} {
			if all&bit != 0 {
				place++
			}
		}
		return place
	}
	return -1
}

// readFeatures reads the table after the records, and the sections in it that the records need.
func (d *decoder) readFeatures(bits []byte, records section) map[int]feature {
	out := map[int]feature{}
	at := span(records.offset, records.size)
	for n := range features {
		if bits[n/8]&(1<<(n%8)) == 0 {
			continue
		}
		if at > uint64(len(d.data)) || uint64(len(d.data))-at < 16 {
			d.warn(min(at, uint64(len(d.data))), "the table of features is cut off: symbols or metadata are missing")
			break
		}
		c := cursor{b: d.data[at:]}
		s := c.section()
		out[n] = feature{s.offset, d.slice(s, fmt.Sprintf("feature %d", n))}
		at += 16
	}
	d.takeFeatures(out)
	return out
}

func (d *decoder) takeFeatures(f map[int]feature) {
	d.readMeta(f[featureMeta])
	d.readBuildIDs(f[featureBuildID])
	d.readFiles(f[featureFile], parseFile)
	d.readFiles(f[featureFile2], parseFile2)
	d.p.Arch = sized(f[featureArch].data)
	d.p.Command = command(f[featureCommand].data)
	d.p.Clock = d.p.Meta["clockid"]
	named := metaEvents(d.p.Meta["event_type_info"])
	for key, name := range descEvents(f[featureEventDesc].data) {
		named[key] = name
	}
	for _, a := range d.attrs {
		d.p.Events = append(d.p.Events, a.event(named))
	}
	d.p.Recorder = d.recorder(f)
	_, v1 := f[featureFile]
	_, v2 := f[featureFile2]
	switch {
	case d.p.Recorder == "perf" && len(f) > 0:
		d.warnings.Addf(0, "the file was written by Linux perf, not by simpleperf: it has no symbols, so frames have only addresses")
	case !v1 && !v2 && len(f) > 0 && !d.p.isETM():
		d.warnings.Addf(0, "simpleperf wrote no symbols into the file: frames have only addresses, except those of the kernel")
	}
}
