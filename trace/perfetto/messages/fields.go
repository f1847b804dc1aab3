package messages

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields iterates over the fields of a message in their order. It serves the readers that need
// this order, or fields that are not declared; all others use a decoder.
type Fields struct {
	rest   []byte
	Number protowire.Number
	Value  uint64 // of a varint or a fixed number
	Bytes  []byte // of a string or a message; nil otherwise
	Broken bool   // the message ends in the middle of a field
}

// FieldsOf are the fields of a message.
func FieldsOf(message []byte) Fields { return Fields{rest: message} }

// Next goes to the next field and reports whether there is one.
func (f *Fields) Next() bool {
	if len(f.rest) == 0 {
		return false
	}
	tag, value, data, size := next(f.rest)
	f.rest = f.rest[size:]
	if tag == broken {
		f.Broken = true
		return false
	}
	f.Number, f.Value, f.Bytes = protowire.Number(tag>>3), value, data
	return true
}

// broken is the tag that next returns for a message that ends in the middle of a field.
const broken = 0

// next reads the first field of a message, which must not be empty. It returns the field's tag
// (its number and wire type), its number or its bytes, and its size with the tag. Where the
// message ends in the middle of the field, the size is all of the message. Most tags, numbers and
// lengths have a single byte, which is read without a call.
func next(message []byte) (tag, value uint64, data []byte, size int) {
	tag, size = uint64(message[0]), 1
	if tag >= 0x80 {
		tag, size = protowire.ConsumeVarint(message)
	}
	if size < 0 || tag>>3 == 0 || tag>>3 > math.MaxInt32 {
		return broken, 0, nil, len(message)
	}
	rest, n := message[size:], 0
	switch kind := protowire.Type(tag & 7); {
	case len(rest) == 0:
		n = -1
	case kind == protowire.VarintType && rest[0] < 0x80:
		value, n = uint64(rest[0]), 1
	case kind == protowire.VarintType:
		value, n = protowire.ConsumeVarint(rest)
	case kind == protowire.BytesType && rest[0] < 0x80 && int(rest[0]) < len(rest):
		n = 1 + int(rest[0])
		data = rest[1:n]
	case kind == protowire.BytesType:
		data, n = protowire.ConsumeBytes(rest)
	case kind == protowire.Fixed64Type && len(rest) >= 8:
		value, n = binary.LittleEndian.Uint64(rest), 8
	case kind == protowire.Fixed32Type && len(rest) >= 4:
		value, n = uint64(binary.LittleEndian.Uint32(rest)), 4
	default:
		n = protowire.ConsumeFieldValue(protowire.Number(tag>>3), kind, rest)
	}
	if n < 0 {
		return broken, 0, nil, len(message)
	}
	return tag, value, data, size + n
}
