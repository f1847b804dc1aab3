package records

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Value is the number of one cell of a summary, of which the store knows the name by
// its own number.
type Value struct {
	Cell  int64
	Value float64
}

// leastValue is the least that a value takes in a packed summary, in bytes.
const leastValue = 1 + 8

// PackSummary packs a summary, which it sorts by cell: for each value the difference to
// the cell before as an unsigned varint, then the value as a little-endian float64.
func PackSummary(values []Value) []byte {
	slices.SortFunc(values, func(a, b Value) int { return cmp.Compare(a.Cell, b.Cell) })
	out := make([]byte, 0, (leastValue+1)*len(values))
	last := int64(0)
	for _, v := range values {
		out = binary.AppendUvarint(out, uint64(v.Cell-last))
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v.Value))
		last = v.Cell
	}
	return out
}

// MostValues is how many values data may hold at most.
func MostValues(data []byte) int { return len(data) / leastValue }

// EachValue calls each for every value of a packed summary. Data that ends too early is
// damaged; an error of each ends it.
func EachValue(data []byte, each func(cell int64, value float64) error) error {
	last := int64(0)
	for len(data) > 0 {
		step, n := binary.Uvarint(data)
		if n <= 0 || len(data) < n+8 {
			return Damaged(errors.New("a summary ends too early"))
		}
		last += int64(step)
		if err := each(last, math.Float64frombits(binary.LittleEndian.Uint64(data[n:]))); err != nil {
			return err
		}
		data = data[n+8:]
	}
	return nil
}
