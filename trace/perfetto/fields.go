package perfetto

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields goes through the fields of a protocol buffer message. Fields that the
// caller does not know are the caller's to pass over.
type fields struct {
	rest   []byte
	number protowire.Number
	value  uint64 // of a varint or a fixed number
	bytes  []byte // of a string or a message; nil otherwise
	broken bool   // the message ends in the middle of a field
}

func fieldsOf(message []byte) fields { return fields{rest: message} }

// next goes to the next field and reports whether there is one.
func (f *fields) next() bool {
	if len(f.rest) == 0 {
		return false
	}
	number, kind, n := protowire.ConsumeTag(f.rest)
	if n < 0 {
		return f.stop()
	}
	f.rest = f.rest[n:]
	f.number, f.value, f.bytes = number, 0, nil
	switch kind {
	case protowire.VarintType:
		f.value, n = protowire.ConsumeVarint(f.rest)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(f.rest)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(f.rest)
		f.value = uint64(v)
	case protowire.Fixed64Type:
		f.value, n = protowire.ConsumeFixed64(f.rest)
	default:
		n = protowire.ConsumeFieldValue(number, kind, f.rest)
	}
	if n < 0 {
		return f.stop()
	}
	f.rest = f.rest[n:]
	return true
}

func (f *fields) stop() bool {
	f.rest, f.broken = nil, true
	return false
}

func (f *fields) int64() *int64 {
	v := int64(f.value)
	return &v
}

// float32 is the value of a float field; nil where it is no number.
func (f *fields) float32() *float64 {
	v := float64(math.Float32frombits(uint32(f.value)))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// text is the value of a string field, made valid and short.
func (f *fields) text() string { return name(f.bytes) }

func name(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), maxName)]), "�")
}

// list is the values of a repeated number, of a packed list or of one entry; at
// most maxList of them.
func (f *fields) list() []uint64 {
	if f.bytes == nil {
		return []uint64{f.value}
	}
	var out []uint64
	for rest := f.bytes; len(rest) > 0 && len(out) < maxList; {
		v, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			break
		}
		out = append(out, v)
		rest = rest[n:]
	}
	return out
}
