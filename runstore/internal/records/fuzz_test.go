package records

import (
	"math"
	"testing"
)

// FuzzSummary: packed cells and their repetitions, as stored in PostgreSQL and SQLite, are either
// read completely or damaged; what is read can be packed to the same bytes.
func FuzzSummary(f *testing.F) {
	values := []Value{{Cell: 1, Value: 2.5}, {Cell: 7, Value: -1}}
	values[0].Repeated.N, values[0].Repeated.Centre, values[0].Repeated.SD = 3, 2.25, 0.5
	values[1].Repeated.N, values[1].Repeated.Centre = 1, -1
	f.Add(PackSummary(values), PackRepeated(values))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, []byte{0x80})
	f.Fuzz(func(t *testing.T, data, repeated []byte) {
		var read []Value
		said := repetitionsIn(repeated)
		err := EachValue(data, func(cell int64, value float64) error {
			r, err := said.next(value)
			read = append(read, Value{cell, value, r})
			return err
		})
		if len(read) > MostValues(data) {
			t.Errorf("%d values are in %d bytes, which hold %d", len(read), len(data), MostValues(data))
		}
		if err != nil || said.end() != nil {
			return
		}
		i := 0
		err = EachValue(PackSummary(read), func(cell int64, value float64) error {
			if cell != read[i].Cell || math.Float64bits(value) != math.Float64bits(read[i].Value) {
				t.Errorf("value %d is packed as %d, %v, was %+v", i, cell, value, read[i])
			}
			i++
			return nil
		})
		if err != nil || i != len(read) {
			t.Errorf("packed again, %d of %d values are read: %v", i, len(read), err)
		}
	})
}
