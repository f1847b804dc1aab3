package records

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// numbered assigns numbers to cells and finds them again.
type numbered []run.Cell

func (n *numbered) number(c run.Cell) (int64, error) {
	for i, known := range *n {
		if known == c {
			return int64(i), nil
		}
	}
	*n = append(*n, c)
	return int64(len(*n) - 1), nil
}

func (n *numbered) name(number int64) (run.Cell, error) { return (*n)[number], nil }

var errNoNumbers = errors.New("there are no numbers")

// threeTimes returns a run of three repetitions, one of which differs.
func threeTimes() run.Run {
	r := run.Run{Format: run.Format, ID: "r", App: run.App{Package: "a"}, Scenario: "s", Status: run.Complete}
	for _, frames := range []float64{100, 110, 150} {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.count": frames},
			Events: []run.Bucket{{Name: run.Start, Metrics: map[string]float64{"frames.count": frames / 2}}}})
	}
	return r
}

// Packed summaries are read back, and match those of the record: the median of three frame counts
// is the middle one, their mean a third of the sum.
func TestCellsOfARun(t *testing.T) {
	r := threeTimes()
	median, mean := runstore.Cells(r)
	var cells numbered
	packed, err := Pack(median, mean, cells.number)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[run.Centre][]byte{run.Median: packed.Median, run.Mean: packed.Mean}
	var reader CellReader
	for centre, want := range map[run.Centre]float64{run.Median: 110, run.Mean: 120} {
		got, err := reader.Read(kept[centre], packed.Repeated, cells.name)
		if value, _ := got.Get(run.Cell{Metric: "frames.count"}); err != nil || got.Len() != 2 || value != want {
			t.Errorf("by the %s: %v, %v, want %v", centre, value, err, want)
		}
		if said, ok := got.Repeated(run.Cell{Event: run.Start, Metric: "frames.count"}); !ok || said.N != 3 {
			t.Errorf("by the %s: repetitions say %+v, %v", centre, said, ok)
		}
	}
	read := func(c run.Centre) (run.Cells, error) { return reader.Read(kept[c], packed.Repeated, cells.name) }
	if err := CheckCells(r, read); err != nil {
		t.Error(err)
	}
	for _, wrong := range []run.Centre{run.Median, run.Mean} {
		swapped := func(c run.Centre) (run.Cells, error) {
			if c == wrong {
				return read(map[run.Centre]run.Centre{run.Median: run.Mean, run.Mean: run.Median}[c])
			}
			return read(c)
		}
		if err := CheckCells(r, swapped); !errors.Is(err, runstore.ErrDamaged) || !strings.Contains(err.Error(), "by the "+string(wrong)+" is not what its record gives") {
			t.Errorf("of another %s: %v", wrong, err)
		}
	}
	for what, change := range map[string]func(*run.Run){
		"the same middle, wider apart": func(r *run.Run) { r.Iterations[0].Metrics["frames.count"] = 90 },
		"a repetition less":            func(r *run.Run) { r.Iterations[2].Metrics = map[string]float64{} },
		"another cell":                 func(r *run.Run) { r.Iterations[0].Metrics["anr.count"] = 0 },
	} {
		other := threeTimes()
		change(&other)
		if err := CheckCells(other, read); !errors.Is(err, runstore.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	fails := func(run.Centre) (run.Cells, error) { return run.Cells{}, errNoNumbers }
	if err := CheckCells(r, fails); !errors.Is(err, errNoNumbers) {
		t.Error(err)
	}
}

// Unavailable numbers, and truncated or surplus bytes, are errors.
func TestCellsThatCantBeRead(t *testing.T) {
	median, mean := runstore.Cells(threeTimes())
	var cells numbered
	packed, err := Pack(median, mean, cells.number)
	if err != nil {
		t.Fatal(err)
	}
	none := func(run.Cell) (int64, error) { return 0, errNoNumbers }
	if _, err := Pack(median, mean, none); !errors.Is(err, errNoNumbers) {
		t.Error(err)
	}
	if _, err := Pack(run.Cells{}, mean, none); !errors.Is(err, errNoNumbers) {
		t.Error(err)
	}
	unnamed := func(int64) (run.Cell, error) { return run.Cell{}, errNoNumbers }
	if _, err := new(CellReader).Read(packed.Median, packed.Repeated, unnamed); !errors.Is(err, errNoNumbers) {
		t.Error(err)
	}
	for what, data := range map[string][2][]byte{
		"a cut summary":        {packed.Median[:len(packed.Median)-1], packed.Repeated},
		"cut repetitions":      {packed.Median, packed.Repeated[:len(packed.Repeated)-1]},
		"too many repetitions": {packed.Median, append(packed.Repeated[:len(packed.Repeated):len(packed.Repeated)], 2)},
	} {
		if got, err := new(CellReader).Read(data[0], data[1], cells.name); !errors.Is(err, runstore.ErrDamaged) || got.Len() != 0 {
			t.Errorf("%s: %d cells, %v", what, got.Len(), err)
		}
	}
}

// Only a complete run can become a reference.
func TestMarkable(t *testing.T) {
	for _, c := range []struct {
		status run.Status
		as     runstore.State
		can    bool
	}{{run.Complete, runstore.Accepted, true}, {run.Partial, runstore.Accepted, false}, {run.Failed, runstore.Rebaselined, false}, {run.Failed, runstore.Rejected, true}} {
		if err := Markable("r", c.status, runstore.Mark{State: c.as}); errors.Is(err, runstore.ErrNotComplete) == c.can {
			t.Errorf("%s as %s: %v", c.status, c.as, err)
		}
	}
}

// A mark is dated now, or right after the latest one if clocks disagree.
func TestDated(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for latest, want := range map[string]time.Time{
		"": now, Stamp(now.Add(-time.Hour)): now, Stamp(now.Add(time.Hour)): now.Add(time.Hour + time.Nanosecond),
	} {
		if m, err := Dated(runstore.Mark{}, now, latest); err != nil || !m.At.Equal(want) {
			t.Errorf("after %q: %v, %v, want %v", latest, m.At, err, want)
		}
	}
	if _, err := Dated(runstore.Mark{}, now, "soon"); !errors.Is(err, runstore.ErrDamaged) {
		t.Errorf("after no time: %v", err)
	}
}

// The state of a run must agree with its newest mark.
func TestCheckMark(t *testing.T) {
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	level := runstore.Mark{State: runstore.Rebaselined, Since: day}
	for _, c := range []struct {
		state   runstore.State
		since   string
		newest  runstore.Mark
		damaged bool
	}{
		{runstore.Accepted, "", runstore.Mark{State: runstore.Accepted}, false}, {runstore.Unmarked, "", runstore.Mark{}, false},
		{runstore.Accepted, "", runstore.Mark{State: runstore.Rejected}, true},
		{runstore.Rebaselined, Stamp(day), level, false}, {runstore.Rebaselined, Stamp(day.Add(1)), level, true},
	} {
		if err := CheckMark(c.state, c.since, c.newest); errors.Is(err, runstore.ErrDamaged) != c.damaged {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A prefix of its digest identifies a run, if it is unique.
func TestDigestsThatBeginSo(t *testing.T) {
	low, high := DigestRange("ab1")
	if l, h := hex.EncodeToString(low), hex.EncodeToString(high); l != "ab1"+strings.Repeat("0", 61) || h != "ab1"+strings.Repeat("f", 61) {
		t.Errorf("from %s to %s", l, h)
	}
	whole := strings.Repeat("7", 64)
	if low, high := DigestRange(whole); hex.EncodeToString(low) != whole || hex.EncodeToString(high) != whole {
		t.Errorf("a whole digest is from %x to %x", low, high)
	}
	for _, none := range []string{"xyz", "AB", whole + "7"} {
		if low, high := DigestRange(none); string(low) <= string(high) {
			t.Errorf("%q is a digest from %x to %x", none, low, high)
		}
	}
	if err := One([]string{"a"}); err != nil {
		t.Error(err)
	}
	if !errors.Is(One(nil), runstore.ErrNotFound) || !errors.Is(One([]string{"a", "b"}), runstore.ErrAmbiguous) {
		t.Errorf("%v, %v", One(nil), One([]string{"a", "b"}))
	}
	if err := Conflict(low, high); !errors.Is(err, runstore.ErrConflict) || !strings.Contains(err.Error(), "ab10000000000000, this one's ab1fffffffffffff") {
		t.Error(err)
	}
}
