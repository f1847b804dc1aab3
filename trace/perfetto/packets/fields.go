package packets

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields goes through the fields of a protocol buffer message. Fields that the
// caller does not know are the caller's to pass over.
type Fields struct {
	rest   []byte
	Number protowire.Number
	Value  uint64 // of a varint or a fixed number
	Bytes  []byte // of a string or a message; nil otherwise
	Broken bool   // the message ends in the middle of a field
}

// FieldsOf are the fields of a message.
func FieldsOf(message []byte) Fields { return Fields{rest: message} }

// Next goes to the next field and reports whether there is one. Most tags, numbers and
// lengths are a byte, which is told without a call.
func (f *Fields) Next() bool {
	if len(f.rest) == 0 {
		return false
	}
	number, kind, n := protowire.Number(f.rest[0]>>3), protowire.Type(f.rest[0]&7), 1
	if number == 0 || f.rest[0] >= 0x80 {
		number, kind, n = protowire.ConsumeTag(f.rest)
	}
	if n < 0 {
		return f.stop()
	}
	f.rest = f.rest[n:]
	f.Number, f.Value, f.Bytes = number, 0, nil
	small := len(f.rest) > 0 && f.rest[0] < 0x80
	switch {
	case kind == protowire.VarintType && small:
		f.Value, n = uint64(f.rest[0]), 1
	case kind == protowire.BytesType && small && int(f.rest[0]) < len(f.rest):
		n = 1 + int(f.rest[0])
		f.Bytes = f.rest[1:n]
	default:
		n = f.value(kind)
	}
	if n < 0 {
		return f.stop()
	}
	f.rest = f.rest[n:]
	return true
}

// value reads a field's value and gives its size, less than 0 where it is cut short.
func (f *Fields) value(kind protowire.Type) (n int) {
	switch kind {
	case protowire.VarintType:
		f.Value, n = protowire.ConsumeVarint(f.rest)
	case protowire.BytesType:
		f.Bytes, n = protowire.ConsumeBytes(f.rest)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(f.rest)
		f.Value = uint64(v)
	case protowire.Fixed64Type:
		f.Value, n = protowire.ConsumeFixed64(f.rest)
	default:
		n = protowire.ConsumeFieldValue(f.Number, kind, f.rest)
	}
	return n
}

func (f *Fields) stop() bool {
	f.rest, f.Broken = nil, true
	return false
}

// Int64 is the value of an integer field.
func (f *Fields) Int64() *int64 {
	v := int64(f.Value)
	return &v
}

// Float32 is the value of a float field; nil where it is no number.
func (f *Fields) Float32() *float64 {
	v := float64(math.Float32frombits(uint32(f.Value)))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Text is the value of a string field, made valid and short.
func (f *Fields) Text() string { return Name(f.Bytes) }

// Name is a name of the trace, made valid and short.
func Name(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), MaxName)]), "�")
}

// List is the values of a repeated number, of a packed list or of one entry; at
// most MaxList of them.
func (f *Fields) List() []uint64 {
	if f.Bytes == nil {
		return []uint64{f.Value}
	}
	var out []uint64
	for rest := f.Bytes; len(rest) > 0 && len(out) < MaxList; {
		v, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			break
		}
		out = append(out, v)
		rest = rest[n:]
	}
	return out
}
