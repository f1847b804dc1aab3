package simpleperf

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// protoField is one field of a protocol buffer message.
type protoField struct {
	number uint64
	value  uint64 // of a varint or a fixed number
	bytes  []byte // of a string, a message or packed numbers; nil otherwise
}

var errProto = errors.New("the message ends in the middle of a field")

// eachField calls f for each field of a message (protobuf.dev/programming-guides/encoding). Groups,
// which are obsolete, are rejected.
func eachField(b []byte, f func(protoField) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errProto
		}
		b = b[n:]
		field := protoField{number: uint64(number)}
		switch kind {
		case protowire.VarintType:
			field.value, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			field.value, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			field.bytes, n = protowire.ConsumeBytes(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			field.value = uint64(v)
		default:
			return fmt.Errorf("field %d has wire type %d, want 0, 1, 2 or 5", field.number, kind)
		}
		if n < 0 {
			return errProto
		}
		b = b[n:]
		if err := f(field); err != nil {
			return err
		}
	}
	return nil
}
