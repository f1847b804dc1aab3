package simpleperf

import (
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Numbers of the feature sections after the records: Linux's, then simpleperf's own
// (record_file_format.h).
const (
	featureBuildID   = 2
	featureArch      = 6
	featureCommand   = 11
	featureEventDesc = 12
	featureFile      = 128
	featureMeta      = 129
	featureFile2     = 132
	featureInitMap   = 134
	features         = 256
)

// maxMeta limits the entries of meta info.
const maxMeta = 1000

// feature is one section: its offset in the file, and its bytes.
type feature struct {
	at   uint64
	data []byte
}

// readMeta parses pairs of zero-terminated strings.
func (d *decoder) readMeta(f feature) {
	c := cursor{b: f.data}
	for len(c.b) > 0 {
		key, value := c.text(), c.text()
		if c.short || len(d.p.Meta) >= maxMeta {
			d.warn(f.at, "the meta info section can't be read to its end")
			return
		}
		d.p.Meta[key] = value
	}
}

// addLosses adds the losses that simpleperf counted while recording (meta info's record_stat).
// When its own buffer is nearly full, it first truncates the stacks of samples and then drops
// samples: no record in the file reports either.
func (d *decoder) addLosses() {
	counts := map[string]uint64{}
	for entry := range strings.SplitSeq(d.p.Meta["record_stat"], ",") {
		name, count, _ := strings.Cut(entry, "=")
		if n, err := strconv.ParseUint(count, 10, 48); err == nil {
			counts[name] = n
		}
	}
	d.p.Lost = max(d.p.Lost, counts["kernelspace_lost_records"]) + counts["userspace_lost_samples"]
	const many = 10 // percent, as in simpleperf's own warning
	if cut := counts["userspace_truncated_stack_samples"]; cut*100 > many*uint64(len(d.p.Samples)) {
		d.warnings.Addf(0, "%d of %d samples had their stacks cut, since simpleperf's buffer was nearly full: callers may be missing; record at a lower rate, or with a larger --user-buffer-size", cut, len(d.p.Samples))
	}
}

// metaEvents parses the names of events in meta info: lines of "name,type,config".
func metaEvents(text string) map[eventKey]string {
	out := map[eventKey]string{}
	for line := range strings.Lines(text) {
		parts := strings.Split(strings.TrimSpace(line), ",")
		if len(parts) < 3 {
			continue
		}
		n := len(parts)
		kind, err1 := strconv.ParseUint(parts[n-2], 10, 32)
		config, err2 := strconv.ParseUint(parts[n-1], 10, 64)
		if err1 == nil && err2 == nil {
			out[eventKey{kind, config}] = strings.Join(parts[:n-2], ",")
		}
	}
	return out
}

// descEvents parses the names of events that Linux perf writes (HEADER_EVENT_DESC).
func descEvents(data []byte) map[eventKey]string {
	out := map[eventKey]string{}
	c := cursor{b: data}
	count, size := c.u32(), c.u32()
	for ; count > 0 && !c.short; count-- {
		a := c.take(uint64(size))
		ids := c.u32()
		name := field(c.take(uint64(c.u32())))
		c.words(uint64(ids))
		if len(a) >= attrMin && !c.short && name != "" {
			parsed := parseAttr(a)
			out[eventKey{parsed.kind, parsed.config}] = name
		}
	}
	return out
}

// command parses a command line: a count, then strings with their lengths.
func command(data []byte) string {
	c := cursor{b: data}
	var words []string
	for count := c.u32(); count > 0 && !c.short; count-- {
		if word := c.take(uint64(c.u32())); !c.short {
			words = append(words, field(word))
		}
	}
	return strings.Join(words, " ")
}

// recorder returns "simpleperf" or "perf": simpleperf is recognized by sections that only it writes
// or by its name in the command line.
func (d *decoder) recorder(f map[int]feature) string {
	for _, own := range []int{featureFile, featureMeta, featureFile2} {
		if _, ok := f[own]; ok {
			return "simpleperf"
		}
	}
	program, _, _ := strings.Cut(d.p.Command, " ")
	if strings.HasPrefix(path.Base(program), "simpleperf") {
		return "simpleperf"
	}
	return "perf"
}

// sized parses a string after its length.
func sized(data []byte) string {
	c := cursor{b: data}
	return field(c.take(uint64(c.u32())))
}

// readBuildIDs parses records of 8 + 4 + 24 bytes and a name.
func (d *decoder) readBuildIDs(f feature) {
	c := cursor{b: f.data}
	for len(c.b) >= 8 {
		kind := c.u32()
		rest := c.u32()
		misc, size := rest&0xFFFF, rest>>16
		body := cursor{b: c.take(max(uint64(size), 8) - 8)}
		body.skip(4) // process
		id := body.take(24)
		if body.short || c.short {
			d.warn(f.at, "the build id section can't be read to its end (record of type %d, %d bytes)", kind, size)
			return
		}
		length := 20
		if misc&(1<<15) != 0 && id[20] <= 20 {
			length = int(id[20])
		}
		d.p.BuildIDs = append(d.p.BuildIDs, BuildID{File: field(body.b), ID: hex.EncodeToString(id[:length])})
	}
}

// readFiles parses the file section: each file after its size.
func (d *decoder) readFiles(f feature, parse func(entry []byte, most int) (file, error)) {
	c := cursor{b: f.data}
	for len(c.b) > 0 {
		at := f.at + uint64(len(f.data)-len(c.b))
		entry := c.take(uint64(c.u32()))
		if c.short {
			d.warn(at, "the list of files ends in the middle of an entry")
			return
		}
		parsed, err := parse(entry, MaxSymbols-d.symbols)
		if err != nil {
			d.warn(at, "the symbols of a file can't be read: %v", err)
			continue
		}
		d.symbols += len(parsed.symbols)
		d.files.describe(parsed)
	}
}

// tooMany is the error for a file with more symbols than there is room for.
func tooMany(f file) error {
	return fmt.Errorf("%q has too many: of all files together %d are read", prose.Clip(f.path, 100), MaxSymbols)
}

// parseFile parses file_struct of record_file_format.h, with at most `most` symbols.
func parseFile(b []byte, most int) (file, error) {
	c := cursor{b: b}
	f := file{path: c.text(), kind: fileType(c.u32()), first: c.u64()}
	count := c.u32()
	if int(count) > len(c.b)/13 { // 8 + 4 bytes and an empty name
		return f, fmt.Errorf("%q has %d symbols in %d bytes", prose.Clip(f.path, 100), count, len(b))
	}
	if int(count) > most {
		return f, tooMany(f)
	}
	f.symbols = make([]symbol, 0, count)
	for ; count > 0; count-- {
		f.symbols = append(f.symbols, symbol{start: c.u64(), length: uint64(c.u32()), name: c.text()})
	}
	switch f.kind {
	case dexFile:
		c.words(uint64(c.u32()))
	case elfFile, kernelModule:
		if len(c.b) > 0 {
			f.firstAt, f.known = c.u64(), true
		}
	}
	if c.short || f.kind > otherFile {
		return f, fmt.Errorf("%q of type %d does not fit into its %d bytes", prose.Clip(f.path, 100), f.kind, len(b))
	}
	return f, nil
}

// parseFile2 parses message FileFeature of record_file.proto, with at most `most` symbols.
func parseFile2(b []byte, most int) (file, error) {
	var f file
	err := eachField(b, func(p protoField) error {
		switch p.number {
		case 1:
			f.path = plain(p.bytes)
		case 2:
			f.kind = fileType(p.value)
		case 3:
			f.first = p.value
		case 4:
			if len(f.symbols) >= most {
				return tooMany(f)
			}
			s, err := parseSymbol(p.bytes)
			f.symbols = append(f.symbols, s)
			return err
		case 6, 7: // of an ELF file, of a kernel module
			f.known = true
			return eachField(p.bytes, func(p protoField) error {
				if p.number == 1 {
					f.firstAt = p.value
				}
				return nil
			})
		}
		return nil
	})
	return f, err
}

func parseSymbol(b []byte) (symbol, error) {
	var s symbol
	err := eachField(b, func(p protoField) error {
		switch p.number {
		case 1:
			s.start = p.value
		case 2:
			s.length = uint64(uint32(p.value))
		case 3:
			s.name = plain(p.bytes)
		}
		return nil
	})
	return s, err
}
