package records

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Value is one cell of a summary, identified by the store's number of the cell, with its number and
// repetitions.
type Value struct {
	Cell     int64
	Value    float64
	Repeated run.Repeated
}

// Packed are a run's summaries by either centre, and its repetitions, packed.
type Packed struct{ Median, Mean, Repeated []byte }

// Pack packs summaries. number returns the store's number of a cell.
func Pack(median, mean run.Cells, number func(run.Cell) (int64, error)) (Packed, error) {
	medians, err := valuesOf(median, number)
	if err != nil {
		return Packed{}, err
	}
	means, err := valuesOf(mean, number)
	if err != nil {
		return Packed{}, err
	}
	return Packed{PackSummary(medians), PackSummary(means), PackRepeated(medians)}, nil
}

// CellReader reads the cells of packed summaries, and shares equal layouts. It reuses the memory of
// the previous summary's cells.
type CellReader struct {
	Layouts  run.Layouts
	cells    []run.Cell
	repeated []run.Repeated
}

// Read reads a summary and its repetitions. name returns the cell of a number.
func (c *CellReader) Read(summary, repeated []byte, name func(int64) (run.Cell, error)) (run.Cells, error) {
	c.cells, c.repeated = c.cells[:0], c.repeated[:0]
	values := make([]float64, 0, MostValues(summary))
	said := repetitionsIn(repeated)
	err := EachValue(summary, func(number int64, value float64) error {
		cell, err := name(number)
		if err != nil {
			return err
		}
		r, err := said.next(value)
		c.cells, values, c.repeated = append(c.cells, cell), append(values, value), append(c.repeated, r)
		return err
	})
	if err == nil {
		err = said.end()
	}
	if err != nil {
		return run.Cells{}, err
	}
	return c.Layouts.Cells(c.cells, values, c.repeated), nil
}

// CheckCells checks that the stored summaries of a run, which kept reads, are those of its record.
func CheckCells(r run.Run, kept func(run.Centre) (run.Cells, error)) error {
	byMedian, byMean := runstore.Cells(r)
	for _, c := range []struct {
		centre run.Centre
		want   run.Cells
	}{{run.Median, byMedian}, {run.Mean, byMean}} {
		cells, err := kept(c.centre)
		if err != nil {
			return err
		}
		if !alike(cells, c.want) {
			return Damaged(fmt.Errorf("its summary by the %s is not what its record gives", c.centre))
		}
	}
	return nil
}

// valuesOf returns the values of a summary, in the order of their cells.
func valuesOf(cells run.Cells, number func(run.Cell) (int64, error)) ([]Value, error) {
	list := make([]Value, 0, cells.Len())
	for c, v := range cells.All() {
		id, err := number(c)
		if err != nil {
			return nil, err
		}
		r, _ := cells.Repeated(c)
		list = append(list, Value{id, v, r})
	}
	slices.SortFunc(list, func(a, b Value) int { return cmp.Compare(a.Cell, b.Cell) })
	return list, nil
}

// leastValue is the least size of a value in a packed summary, in bytes.
const leastValue = 1 + 8

// PackSummary packs the numbers of a summary: for each value the difference to the cell
// before as an unsigned varint, then the value as a little-endian float64.
func PackSummary(values []Value) []byte {
	out := make([]byte, 0, (leastValue+1)*len(values))
	last := int64(0)
	for _, v := range values {
		out = binary.AppendUvarint(out, uint64(v.Cell-last))
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v.Value))
		last = v.Cell
	}
	return out
}

// MostValues returns the largest number of values that data may contain.
func MostValues(data []byte) int { return len(data) / leastValue }

// PackRepeated packs the repetitions, in the order of the values: for each cell their count,
// doubled, plus 1 on the logarithmic scale, as an unsigned varint. For more than one repetition the
// centre follows as a little-endian float64, and the spread as a float32.
func PackRepeated(values []Value) []byte {
	out := make([]byte, 0, (1+8+4)*len(values))
	for _, v := range values {
		r := v.Repeated
		head := uint64(r.N) << 1
		if r.Log {
			head |= 1
		}
		out = binary.AppendUvarint(out, head)
		if r.N > 1 {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(r.Centre))
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(r.SD)))
		}
	}
	return out
}

var errRepetitions = errors.New("a summary's repetitions are not those of its cells")

// repetitions unpacks what PackRepeated has packed. Empty data has no repetitions.
type repetitions struct {
	data  []byte
	known bool
}

// repetitionsIn returns the repetitions in the data.
func repetitionsIn(data []byte) repetitions { return repetitions{data, len(data) > 0} }

// next returns the repetitions of the next cell, which has that value.
func (r *repetitions) next(value float64) (out run.Repeated, err error) {
	if !r.known {
		return out, nil
	}
	head, n := binary.Uvarint(r.data)
	if n <= 0 || head>>1 > run.MaxIterations {
		return out, Damaged(errRepetitions)
	}
	r.data = r.data[n:]
	out.N, out.Log = int(head>>1), head&1 == 1
	switch {
	case out.N > 1 && len(r.data) < 8+4:
		return out, Damaged(errRepetitions)
	case out.N > 1:
		out.Centre = math.Float64frombits(binary.LittleEndian.Uint64(r.data))
		out.SD = float64(math.Float32frombits(binary.LittleEndian.Uint32(r.data[8:])))
		r.data = r.data[8+4:]
	case out.Log:
		out.Centre = math.Log(value)
	default:
		out.Centre = value
	}
	return out, nil
}

// end returns an error if there are more repetitions than cells.
func (r *repetitions) end() error {
	if len(r.data) > 0 {
		return Damaged(errRepetitions)
	}
	return nil
}

// EachValue calls each for every value of a packed summary. Truncated data is damaged; an error of
// each ends it.
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

// alike reports whether two summaries are equal except for the last digits, which processors round
// differently.
func alike(a, b run.Cells) bool {
	if a.Len() != b.Len() {
		return false
	}
	for cell, x := range a.All() {
		y, ok := b.Get(cell)
		r, _ := a.Repeated(cell)
		s, _ := b.Repeated(cell)
		if !ok || !nearly(x, y, math.Max(math.Abs(x), math.Abs(y))) || !repeatedAlike(r, s) {
			return false
		}
	}
	return true
}

func repeatedAlike(r, s run.Repeated) bool {
	size := math.Max(math.Abs(r.Centre), math.Abs(s.Centre))
	if r.Log {
		size = math.Max(size, 1) // for a logarithm, only the digits after the point count
	}
	const single = 1e3 // a spread has seven digits
	return r.N == s.N && r.Log == s.Log && nearly(r.Centre, s.Centre, size) && nearly(r.SD, s.SD, size+single*math.Max(r.SD, s.SD))
}

// nearly reports whether numbers of that size are equal except for rounding.
func nearly(x, y, size float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || math.Abs(x-y) <= 1e-9*size
}
