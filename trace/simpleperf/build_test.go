package simpleperf_test

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// le encodes numbers and strings as little-endian bytes.
func le(values ...any) []byte {
	var out []byte
	for _, v := range values {
		switch v := v.(type) {
		case string:
			out = append(out, v...)
		case []byte:
			out = append(out, v...)
		default:
			out, _ = binary.Append(out, binary.LittleEndian, v)
		}
	}
	return out
}

// padded is a string that ends with zero, up to a multiple of 8 bytes.
func padded(s string) []byte { return append([]byte(s), make([]byte, 8-len(s)%8)...) }

// rec is a record with the kernel's header.
func rec(kind uint32, misc uint16, body ...any) []byte {
	b := le(body...)
	return le(kind, misc, uint16(8+len(b)), b)
}

const (
	user   = uint16(2)
	kernel = uint16(1)
)

func mmap2(misc uint16, pid uint32, start, length, offset uint64, prot uint32, name string) []byte {
	return rec(10, misc, pid, pid, start, length, offset, uint32(8), uint32(1), uint64(77), uint64(0), prot, uint32(2), padded(name))
}

func comm(pid, tid uint32, name string) []byte { return rec(3, 0, pid, tid, padded(name)) }

// sampleType is IP, TID, TIME, CALLCHAIN, ID, CPU and PERIOD.
const sampleType = uint64(1 | 2 | 4 | 32 | 64 | 128 | 256)

func hit(misc uint16, ip uint64, pid, tid uint32, ns, id uint64, cpu uint32, period uint64, chain ...uint64) []byte {
	return rec(9, misc, ip, pid, tid, ns, id, cpu, uint32(0), period, uint64(len(chain)), le(chain))
}

// attr is a perf_event_attr of 64 bytes, without its ids.
func attr(kind uint32, config, flags uint64) []byte {
	return le(kind, uint32(64), config, uint64(250000), sampleType, uint64(0), flags, uint64(0), uint64(0))
}

// perfData is a file: header, ids, attributes, records, features. Event n has the id 100+n.
func perfData(attrs [][]byte, records []byte, features map[int][]byte) []byte {
	const header = 104
	idsAt := uint64(header)
	attrsAt := idsAt + 8*uint64(len(attrs))
	dataAt := attrsAt + 80*uint64(len(attrs))
	var ids, attrBytes, bits, table, content []byte
	for i, a := range attrs {
		ids = append(ids, le(uint64(100+i))...)
		attrBytes = append(attrBytes, le(a, idsAt+8*uint64(i), uint64(8))...)
	}
	bits = make([]byte, 32)
	at := dataAt + uint64(len(records)) + 16*uint64(len(features))
	for n := range 256 {
		if b, ok := features[n]; ok {
			bits[n/8] |= 1 << (n % 8)
			table = append(table, le(at+uint64(len(content)), uint64(len(b)))...)
			content = append(content, b...)
		}
	}
	head := le("PERFILE2", uint64(header), uint64(80), attrsAt, uint64(len(attrBytes)), dataAt, uint64(len(records)), uint64(0), uint64(0), bits)
	return bytes.Join([][]byte{head, ids, attrBytes, records, table, content}, nil)
}

type sym struct {
	start uint64
	size  uint32
	name  string
}

// fileV1 is a file of the file section, of type ELF or dex.
func fileV1(path string, kind uint32, first uint64, tail []byte, symbols ...sym) []byte {
	b := le(path, byte(0), kind, first, uint32(len(symbols)))
	for _, s := range symbols {
		b = append(b, le(s.start, s.size, s.name, byte(0))...)
	}
	b = append(b, tail...)
	return le(uint32(len(b)), b)
}

// pb is a message: pairs of a field's number and its value, a number or text.
func pb(fields ...any) []byte {
	var out []byte
	for pair := range slices.Chunk(fields, 2) {
		number := uint64(pair[0].(int))
		switch v := pair[1].(type) {
		case int:
			out = binary.AppendUvarint(out, number<<3)
			out = binary.AppendUvarint(out, uint64(v))
		case string:
			out = binary.AppendUvarint(out, number<<3|2)
			out = binary.AppendUvarint(out, uint64(len(v)))
			out = append(out, v...)
		case []byte:
			out = binary.AppendUvarint(out, number<<3|2)
			out = binary.AppendUvarint(out, uint64(len(v)))
			out = append(out, v...)
		}
	}
	return out
}

// reportSample is a file of report-sample --protobuf.
func reportSample(messages ...[]byte) []byte {
	out := le("SIMPLEPERF", uint16(1))
	for _, m := range messages {
		out = append(out, le(uint32(len(m)), m)...)
	}
	return append(out, le(uint32(0))...)
}
