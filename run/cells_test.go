package run

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"
)

func TestCellsOf(t *testing.T) {
	want := map[Cell]float64{{"", "frames.count"}: 100, {"tap", "frames.count"}: 0, {"tap", "cpu.time_ms"}: 7}
	var shared Layouts
	for range 2 {
		got := shared.Share(CellsOf(want))
		if !maps.Equal(got.Map(), want) || got.Len() != 3 {
			t.Errorf("%v, want %v", got.Map(), want)
		}
	}
	if x, ok := CellsOf(want).Get(Cell{"tap", "frames.count"}); !ok || x != 0 {
		t.Errorf("%v, %v, want 0 that is there", x, ok)
	}
	if _, ok := CellsOf(want).Get(Cell{"swipe", "frames.count"}); ok {
		t.Error("a cell that is not there was found")
	}
	var none Cells
	if _, ok := none.Get(Cell{}); ok || none.Len() != 0 || len(none.Map()) != 0 {
		t.Error("no cells have a cell")
	}
}

func TestColumn(t *testing.T) {
	count, time := Cell{"", "frames.count"}, Cell{"", "cpu.time_ms"}
	var shared Layouts
	summaries := []Cells{
		shared.Cells([]Cell{count, time}, []float64{1, 10}, nil), shared.Cells([]Cell{count, time}, []float64{2, 20}, nil),
		shared.Cells([]Cell{time, count}, []float64{30, 3}, nil), shared.Cells([]Cell{time}, []float64{40}, nil), {},
		shared.Cells([]Cell{count, time}, []float64{6, 60}, nil),
	}
	column := NewColumn(count)
	for i, want := range []float64{1, 2, 3, 0, 0, 6} {
		if x, ok := column.In(summaries[i]); x != want || ok != (want != 0) {
			t.Errorf("summary %d: %v, %v, want %v", i, x, ok, want)
		}
	}
	// With the repetitions, where they are known.
	told := []Repeated{{N: 5, Centre: 7, SD: 1}, {N: 4, Centre: 8, SD: 2}}
	summaries = []Cells{shared.Cells([]Cell{count, time}, []float64{1, 10}, told), shared.Cells([]Cell{time, count}, []float64{10, 1}, told), summaries[0], summaries[3], {}}
	for i, want := range []Repeated{told[0], told[1], {}, {}, {}} {
		if got, known := column.Repeated(summaries[i]); got != want || known != (want.N > 0) {
			t.Errorf("summary %d: %+v, %v, want %+v", i, got, known, want)
		}
	}
}

func TestTable(t *testing.T) {
	count, time, none := Cell{"", "frames.count"}, Cell{"", "cpu.time_ms"}, Cell{"tap", "cpu.time_ms"}
	var shared Layouts
	summaries := []Cells{
		{}, shared.Cells([]Cell{count, time}, []float64{1, 10}, nil), shared.Cells([]Cell{count, time}, []float64{2, 20}, nil),
		shared.Cells([]Cell{time, count}, []float64{30, 3}, nil), shared.Cells([]Cell{time}, []float64{40}, nil),
		shared.Cells([]Cell{count, time}, []float64{6, 60}, nil),
	}
	nan := math.NaN()
	got := Table([]Cell{count, time, none}, slices.Values(summaries), len(summaries))
	want := map[Cell][]float64{count: {nan, 1, 2, 3, nan, 6}, time: {nan, 10, 20, 30, 40, 60}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCount(t *testing.T) {
	fullRun, tap, slow := Cell{"", "frames.count"}, Cell{"tap", "frames.count"}, Cell{"tap", "frames.slow"}
	var shared Layouts
	all := []Cells{
		shared.Cells([]Cell{fullRun, tap, slow}, make([]float64, 3), nil), shared.Cells([]Cell{fullRun, tap, slow}, make([]float64, 3), nil),
		shared.Cells([]Cell{tap}, make([]float64, 1), nil), {},
	}
	cells, events := Count(slices.Values(all))
	if want := (map[Cell]int{fullRun: 2, tap: 3, slow: 2}); !maps.Equal(cells, want) {
		t.Errorf("cells %v, want %v", cells, want)
	}
	if want := (map[string]int{"": 2, "tap": 3}); !maps.Equal(events, want) {
		t.Errorf("events %v, want %v", events, want)
	}
}

// A history of runs with many events takes a few bytes more than its numbers.
func TestLayoutsShareNames(t *testing.T) {
	const runs, cells = 2000, 300
	names := make([]Cell, cells)
	for i := range names {
		names[i] = Cell{Event: string(rune('a' + i)), Metric: "frames.count"}
	}
	var shared Layouts
	held, repeated := make([]Cells, runs), make([]Repeated, cells)
	before := allocated()
	for i := range held {
		held[i] = shared.Cells(names, make([]float64, cells), repeated)
	}
	const each = (8 + 16) * cells // the numbers and their repetitions
	if per := (allocated() - before) / runs; per > each*5/4 {
		t.Errorf("%d bytes for each summary of %d numbers, want at most %d", per, cells, each*5/4)
	}
	runtime.KeepAlive(held)
}

// allocated returns the total of allocated bytes.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// Cells are equal where both have the same ones with the same numbers, whatever their order, and
// equal repetitions.
func TestCellsEqual(t *testing.T) {
	count, time := Cell{"", "frames.count"}, Cell{"", "cpu.time_ms"}
	var shared Layouts
	five := []Repeated{{N: 5, Centre: 7, SD: 1}, {N: 5, Centre: 70, SD: 2}}
	base := shared.Cells([]Cell{count, time}, []float64{1, 10}, five)
	for name, c := range map[string]struct {
		other Cells
		want  bool
	}{
		"the same":              {shared.Cells([]Cell{count, time}, []float64{1, 10}, five), true},
		"in another order":      {shared.Cells([]Cell{time, count}, []float64{10, 1}, []Repeated{five[1], five[0]}), true},
		"another number":        {shared.Cells([]Cell{count, time}, []float64{1, 11}, five), false},
		"one less":              {shared.Cells([]Cell{count}, []float64{1}, five[:1]), false},
		"another cell":          {shared.Cells([]Cell{count, {"tap", "cpu.time_ms"}}, []float64{1, 10}, five), false},
		"other repetitions":     {shared.Cells([]Cell{count, time}, []float64{1, 10}, []Repeated{{N: 4, Centre: 7, SD: 1}, five[1]}), false},
		"repetitions not known": {shared.Cells([]Cell{count, time}, []float64{1, 10}, nil), false},
		"none":                  {Cells{}, false},
	} {
		if got := base.Equal(c.other); got != c.want {
			t.Errorf("%s: equal is %t", name, got)
		}
		if got := c.other.Equal(base); got != c.want {
			t.Errorf("%s, the other way: equal is %t", name, got)
		}
	}
	if zero := CellsOf(map[Cell]float64{count: 0}); zero.Equal(CellsOf(map[Cell]float64{time: 0})) || !(Cells{}).Equal(Cells{}) {
		t.Error("a cell of 0 is not one that is absent, and none are equal to none")
	}
	if a, b := shared.Share(CellsOf(map[Cell]float64{count: 1})), shared.Share(CellsOf(map[Cell]float64{count: 2})); a.layout != b.layout || shared.Share(Cells{}).Len() != 0 {
		t.Error("shared cells keep names of their own")
	}
}
