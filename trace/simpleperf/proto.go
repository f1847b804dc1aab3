package simpleperf

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// protoField is one field of a protocol buffer message.
type protoField struct {
	number uint64
	value  uint64 // of a varint or a fixed number
	bytes  []byte // of a string, a message or packed numbers; nil otherwise
}

var errProto = errors.New("the message ends in the middle of a field")

// eachField calls f for each field of a message
// (protobuf.dev/programming-guides/encoding). Groups, which nobody writes any
// more, are refused.
func eachField(b []byte, f func(protoField) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return errProto
		}
		b = b[n:]
		field := protoField{number: tag >> 3}
		switch tag & 7 {
		case 0:
			field.value, n = binary.Uvarint(b)
		case 1:
			if n = 8; len(b) >= n {
				field.value = binary.LittleEndian.Uint64(b)
			}
		case 2:
			size, head := binary.Uvarint(b)
			if head <= 0 || size > uint64(len(b)-head) {
				return errProto
			}
			n = head + int(size)
			field.bytes = b[head:n:n]
		case 5:
			if n = 4; len(b) >= n {
				field.value = uint64(binary.LittleEndian.Uint32(b))
			}
		default:
			return fmt.Errorf("field %d has wire type %d, want 0, 1, 2 or 5", field.number, tag&7)
		}
		if n <= 0 || n > len(b) {
			return errProto
		}
		b = b[n:]
		if err := f(field); err != nil {
			return err
		}
	}
	return nil
}
