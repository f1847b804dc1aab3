package messages

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// Parts is a repeated field of texts, bytes or messages, which are parts of the message's bytes.
type Parts struct {
	from   []byte // the message from the first part on
	count  uint32
	number uint32
}

// Len returns the number of parts.
func (p *Parts) Len() int { return int(p.count) }

// Each iterates over the parts in their order.
func (p *Parts) Each(yield func([]byte) bool) {
	tag := uint64(p.number)<<3 | uint64(protowire.BytesType)
	for rest, left := p.from, p.count; left > 0; {
		found, _, part, size := next(rest)
		if rest = rest[size:]; found == tag {
			left--
			if !yield(part) {
				return
			}
		}
	}
}

// found adds a part. from is the message from the part's tag on.
func (p *Parts) found(from []byte, number uint32) {
	if p.count == 0 {
		p.from, p.number = from, number
	}
	p.count++
}

// Numbers is a repeated field of numbers, packed or one by one.
type Numbers struct {
	from   []byte // the message from the first field on
	count  uint32 // of fields: a packed one has many numbers
	number uint16
	kind   uint8 // the wire type of a single number
}

// Each iterates over the numbers in their order. A float is given as its bits.
func (n *Numbers) Each(yield func(uint64) bool) {
	for rest, left := n.from, n.count; left > 0; {
		found, value, packed, size := next(rest)
		rest = rest[size:]
		switch {
		case found>>3 != uint64(n.number):
		case found&7 == uint64(n.kind):
			left--
			if !yield(value) {
				return
			}
		case found&7 == uint64(protowire.BytesType):
			left--
			for len(packed) > 0 {
				value, size := one(packed, n.kind)
				if size <= 0 {
					break
				}
				if packed = packed[size:]; !yield(value) {
					return
				}
			}
		}
	}
}

// List returns the first numbers, at most `most`.
func (n *Numbers) List(most int) []uint64 {
	var out []uint64
	for v := range n.Each {
		if len(out) >= most {
			break
		}
		out = append(out, v)
	}
	return out
}

// found adds a field. from is the message from the field's tag on.
func (n *Numbers) found(from []byte, number uint16, kind uint8) {
	if n.count == 0 {
		n.from, n.number, n.kind = from, number, kind
	}
	n.count++
}

// one reads the first number of a packed list and returns its size, 0 or less if it is cut.
func one(packed []byte, kind uint8) (uint64, int) {
	switch {
	case kind == uint8(protowire.Fixed64Type) && len(packed) >= 8:
		return binary.LittleEndian.Uint64(packed), 8
	case kind == uint8(protowire.Fixed32Type) && len(packed) >= 4:
		return uint64(binary.LittleEndian.Uint32(packed)), 4
	case kind == uint8(protowire.VarintType):
		return protowire.ConsumeVarint(packed)
	}
	return 0, 0
}
