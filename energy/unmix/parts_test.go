package unmix

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"
)

const second = time.Second

var near = cmpopts.EquateApprox(0, 1e-9)

// A spell's CPU time is spread evenly over it, and a late sensor reports it later.
func TestRowsOfSpreadsSpells(t *testing.T) {
	t.Parallel()
	readings := []Reading{{0, second, 1}, {second, 2 * second, 2}, {2 * second, 3 * second, 3}, {5 * second, 6 * second, 4}, {6 * second, 7 * second, 5}}
	recordings := []Recording{{}, {Readings: readings, Spells: []Spell{
		{From: 0, To: second / 2, Seconds: 0.1, Source: 1},
		{From: 600 * time.Millisecond, To: 1600 * time.Millisecond, Seconds: 0.5, Source: 0},
		{From: 2 * second, To: 2 * second, Seconds: 9, Source: 0}, // without length
		{From: 2 * second, To: 3 * second, Seconds: 0.3, Source: 1},
		{From: 5 * second, To: 6500 * time.Millisecond, Seconds: 1.5, Source: 0},
	}}}
	place := []int{1, 0}
	for late, want := range map[time.Duration][][]float64{
		// By place: source 1 has the first. The last reading ends after the last spell.
		0:          {{0.1, 0.2}, {0, 0.3}, {0.3, 0}, {0, 1}},
		second / 2: {{0.1, 0}, {0, 0.45}, {0.15, 0.05}, {0, 0.5}},
	} {
		rows := rowsOf(recordings, place, 2, late, 0)
		var got [][]float64
		for _, r := range rows {
			got = append(got, r.of)
			if sum := r.of[0] + r.of[1]; math.Abs(sum-r.running) > 1e-12 || r.recording != 1 {
				t.Errorf("%v late: %g threads ran, of sources %g, in recording %d", late, r.running, sum, r.recording)
			}
		}
		if diff := cmp.Diff(want, got, near); diff != "" {
			t.Errorf("%v late (-want +got):\n%s", late, diff)
		}
	}
	var follow []bool
	for _, r := range rowsOf(recordings, place, 2, 0, 0) {
		follow = append(follow, r.follows)
	}
	if diff := cmp.Diff([]bool{false, true, true, false}, follow); diff != "" {
		t.Errorf("which rows follow (-want +got):\n%s", diff)
	}
	if rows := rowsOf(recordings, place, 2, 0, second); len(rows) != 3 || rows[0].watts != 2 {
		t.Errorf("%d readings are at least a second after the first spell began, want 3", len(rows))
	}
}

func TestJoinReadings(t *testing.T) {
	t.Parallel()
	var all []Reading
	for i := range 5 {
		all = append(all, Reading{time.Duration(i) * second, time.Duration(i+1) * second, float64(i)})
	}
	want := []Reading{{0, 2 * second, 0.5}, {2 * second, 4 * second, 2.5}, {4 * second, 5 * second, 4}}
	if diff := cmp.Diff(want, joined(all, 2), near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	long := make([]Reading, maxReadings+1)
	for i := range long {
		long[i] = Reading{time.Duration(i) * second, time.Duration(i+1) * second, 1}
	}
	got, length := joinReadings([]Recording{{Readings: long}})
	if n := len(got[0].Readings); n != maxReadings/2+1 || length != 2*second {
		t.Errorf("of %d readings there are %d of %v, want %d of 2s", len(long), n, length, maxReadings/2+1)
	}
}

// The sources with the most CPU time have places of their own, and all others share the last.
func TestDistinguishPlacesSourcesByTime(t *testing.T) {
	t.Parallel()
	spells := make([]Spell, MaxSources+2)
	for i := range spells {
		spells[i] = Spell{0, second, float64(i + 1), i}
	}
	place, distinct := distinguish([]Recording{{Spells: spells}}, len(spells))
	if distinct != MaxSources || place[len(spells)-1] != 0 || place[0] != MaxSources-1 || place[2] != MaxSources-1 || place[3] != MaxSources-2 {
		t.Errorf("%d are distinguished, by %v", distinct, place)
	}
	if _, distinct := distinguish(nil, 3); distinct != 3 {
		t.Errorf("of 3 sources %d are distinguished", distinct)
	}
}

// The new part of a reading of a sensor that keeps half: 2 - ½·1 W, at half the load.
func TestDesignOfASmoothingSensor(t *testing.T) {
	t.Parallel()
	rows := make([]row, MinReadings+2)
	for i := range rows {
		rows[i] = row{watts: float64(i + 1), running: 0.5, of: []float64{0.2, 0.3}, follows: i > 0}
	}
	rows[4].follows = false
	design, watts, follows := response{rows, 0.5}.design()
	if n, _ := design.Dims(); n != MinReadings || len(watts) != n {
		t.Fatalf("%d rows and %d readings, want %d", n, len(watts), MinReadings)
	}
	if diff := cmp.Diff([]float64{0.5, 0.25, 0.1, 0.15}, design.RawRowView(0), near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if watts[0] != 1.5 || watts[3] != 6-2.5 || follows[0] || !follows[1] || follows[3] {
		t.Errorf("new are %v, which follow as %v", watts, follows)
	}
	if design, _, _ := (response{rows[:MinReadings], 0}).design(); design != nil {
		t.Error("fewer rows than are needed are a design")
	}
	m := Model{unknowns: []float64{1, 2, 0, 0}}
	m.leftovers(response{rows, 0.5})
	// The floor and half a thread are 2 W. The first reading is 1 W; the second is
	// expected to be 1.5 W and is 2, the third 1.75 and is 3. The fifth begins anew.
	for at, want := range map[int]float64{0: 0, 1: 0.5, 2: 1.25, 4: 0} {
		if got := m.left[at].watts; math.Abs(got-want) > 1e-9 {
			t.Errorf("of reading %d %.3f W are left, want %.3f", at, got, want)
		}
	}
}

func TestLineIsLeastSquares(t *testing.T) {
	t.Parallel()
	design := mat.NewDense(3, 2, []float64{0.5, 0, 0.5, 1, 0.5, 2})
	if floor, slope := line(design, []float64{1, 2, 6}); math.Abs(floor-1) > 1e-9 || math.Abs(slope-2.5) > 1e-9 {
		t.Errorf("%g + %g x, want 1 + 2.5 x", floor, slope) // ½·floor + slope·x through (0, 1), (1, 2), (2, 6)
	}
	same := mat.NewDense(2, 2, []float64{1, 3, 1, 3})
	if floor, slope := line(same, []float64{1, 2}); floor != 1.5 || slope != 0 {
		t.Errorf("%g + %g x of one x, want 1.5", floor, slope)
	}
}

// Of 1, 2, 1 about 0, neighbours are correlated by (2+2)/6; a new start has no neighbour.
func TestWhiten(t *testing.T) {
	t.Parallel()
	design, watts := mat.NewDense(3, 2, []float64{1, 1, 1, 1, 1, 1}), []float64{1, 2, 1}
	follows := []bool{false, true, true}
	if got := neighbours(follows, design, watts, 0, 0); math.Abs(got-4.0/6) > 1e-9 {
		t.Errorf("the correlation is %g, want 2/3", got)
	}
	if got := neighbours([]bool{false, true, false}, design, watts, 0, 0); math.Abs(got-2.0/6) > 1e-9 {
		t.Errorf("with a gap it is %g, want 1/3", got)
	}
	for want, watts := range map[float64][]float64{0: {0, 0, 0}, 0.95: make([]float64, 300), -0.7: make([]float64, 299)} {
		for i := range watts {
			switch {
			case want > 0:
				watts[i] = 1
			case want < 0:
				watts[i] = 1 - 2*float64(i%2)
			}
		}
		follows := make([]bool, len(watts))
		for i := range follows {
			follows[i] = true
		}
		if got := neighbours(follows, mat.NewDense(len(watts), 2, nil), watts, 0, 0); got != want {
			t.Errorf("the correlation is %g, want %g", got, want)
		}
	}
	evidence := whiten(follows, design, watts, 0.6)
	// √(1 - 0.36) is 0.8.
	if diff := cmp.Diff([]float64{0.8, 1.4, -0.2}, watts, near); diff != "" || math.Abs(evidence-math.Log(0.8)) > 1e-9 {
		t.Errorf("evidence %g (-want +got):\n%s", evidence, diff)
	}
	if diff := cmp.Diff([]float64{0.8, 0.8, 0.4, 0.4, 0.4, 0.4}, design.RawMatrix().Data, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A normal of mean -1 and variance 1 that is truncated to above 0 has the mean 0.525 and the
// variance 0.199 (φ(1)/(1-Φ(1)) is 1.5251). A variable correlated with it by ½ moves along.
func TestBoundFloor(t *testing.T) {
	t.Parallel()
	m := Model{unknowns: []float64{-1, 3}, covariance: mat.NewSymDense(2, []float64{1, 0.5, 0.5, 2})}
	m.boundFloor(100)
	if math.Abs(m.FloorW-0.5251) > 1e-3 || math.Abs(m.unknowns[1]-3.7626) > 1e-3 {
		t.Errorf("the floor is %.4f W and the other unknown %.4f, want 0.5251 and 3.7626", m.FloorW, m.unknowns[1])
	}
	if got := m.covariance.At(0, 0); math.Abs(got-0.1991) > 1e-3 {
		t.Errorf("its variance is %.4f, want 0.1991", got)
	}
	if got := m.covariance.At(1, 1); math.Abs(got-(2-0.25*(1-0.1991))) > 1e-3 {
		t.Errorf("that of the other is %.4f, want 1.7998", got)
	}
	for start, want := range map[float64]float64{-50: 0, 50: 2} {
		far := Model{unknowns: []float64{start, 0}, covariance: mat.NewSymDense(2, []float64{1, 0, 0, 1})}
		if far.boundFloor(2); far.FloorW != want || !(far.covariance.At(0, 0) > 0) {
			t.Errorf("from %g W the floor comes to %g W ± %g, want %g", start, far.FloorW, math.Sqrt(far.covariance.At(0, 0)), want)
		}
	}
}

// If the variance is twice that of chance, half of it is true for a slowly changing mix, nine
// tenths for one that alternates at random instants.
func TestTruthIn(t *testing.T) {
	t.Parallel()
	for times, want := range map[float64][2]float64{2: {0.5, 0.9102}, 100: {0.99, 0.99997}} {
		if low, high := truthIn(times); math.Abs(low-want[0]) > 5e-5 || math.Abs(high-want[1]) > 5e-5 {
			t.Errorf("of %g times chance's variance %.4f to %.4f is truth, want %v", times, low, high, want)
		}
	}
}

// A mix that changes by far more than chance is kept, one that does not becomes the mean; the total
// CPU time stays.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	made := func(amount float64) []row {
		rows := make([]row, 40)
		for i := range rows {
			part := 0.5 + amount*float64(1-2*(i%2))
			rows[i] = row{from: time.Duration(i) * second, to: time.Duration(i+1) * second, running: 0.8, of: []float64{0.8 * part, 0.8 * (1 - part)}}
		}
		rows[7] = row{from: 7 * second, to: 8 * second, of: []float64{0, 0}} // asleep
		return rows
	}
	for amount, want := range map[float64]float64{0.4: 0.4, 0.02: 0} {
		rows := made(amount)
		unsure := calibrate(rows, []float64{0.5, 0.5}, 0.01)
		part := rows[0].of[0]/rows[0].running - 0.5
		if math.Abs(part-want) > 0.02 || math.Abs(rows[0].of[0]+rows[0].of[1]-0.8) > 1e-9 || rows[7].of[0] != 0 || want == 0 && unsure != 0 || want > 0 && (unsure < 0.009 || unsure > 0.011) {
			t.Errorf("a mix that differs by %g differs by %.3f then, want %g: %v, unsure by %.4f", amount, part, want, rows[0].of, unsure)
		}
	}
}
