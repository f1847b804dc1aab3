package drift

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// weekly returns sessions a week apart with the values of level; the newest is the last.
func weekly(weeks int, level func(week int) float64) []point {
	var out []point
	for w := range weeks {
		out = append(out, point{day: 7 * float64(w), y: level(w), runs: 1})
	}
	return out
}

// A level that was constant for seven weeks and then rose by 1 % a week for six.
func TestRecentRise(t *testing.T) {
	r := riseOf([][]point{weekly(14, func(w int) float64 { return 5 + 0.01*math.Max(0, float64(w-7)) })}, 0.05, 0.01)
	gatetest.About(t, "rise", r.by, 0.06)
	gatetest.About(t, "from", r.from, 5)
	if r.rising > 1e-9 || r.falling != 1 || r.runs != 14 {
		t.Errorf("%+v", r)
	}
	whole := riseOf([][]point{weekly(5, func(w int) float64 { return -0.01 * float64(w) })}, 0.05, 0.01)
	gatetest.About(t, "fall", whole.by, -0.04)
	if whole.falling > 1e-9 || whole.rising != 1 {
		t.Errorf("%+v", whole)
	}
	still := riseOf([][]point{weekly(5, func(int) float64 { return 3 })}, 0.05, 0.01)
	if still.by != 0 || still.rising != 1 || still.falling != 1 {
		t.Errorf("what stands still: %+v", still)
	}
	for name, c := range map[string][]point{"nothing": nil, "three sessions": weekly(3, func(w int) float64 { return float64(w) }), "one day": {{y: 1}, {y: 2}, {y: 3}, {y: 4}}} {
		if r := riseOf([][]point{c}, 0.05, 0.01); !math.IsNaN(r.by) || r.rising != 1 || r.falling != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A step older than a quarter is the present level; one within it is a rise. The order of the
// sessions does not matter.
func TestStepBeforeQuarterIsNoRise(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		at   int // week of 39
		want bool
	}{"20 weeks ago": {18, false}, "8 weeks ago": {30, true}} {
		sessions := weekly(39, func(w int) float64 {
			y := 0.01 * random.NormFloat64()
			if w >= c.at {
				y += 0.2
			}
			return y
		})
		forwards := riseOf([][]point{sessions}, 0.05, 0.01)
		slices.Reverse(sessions)
		backwards := riseOf([][]point{sessions}, 0.05, 0.01)
		if rises := forwards.rising <= 0.01 && forwards.by >= 0.05; rises != c.want {
			t.Errorf("a step %s: %+v", name, forwards)
		}
		gatetest.About(t, "the same backwards", backwards.by, forwards.by)
	}
}

// Sessions older than three quarters don't count.
func TestOldSessionsDoNotCount(t *testing.T) {
	sessions := weekly(60, func(w int) float64 { return math.Sin(float64(w)) })
	if r := riseOf([][]point{sessions}, 0.05, 0.01); r.runs != 40 { // of 273 days
		t.Errorf("%d runs, want those of the last 39 weeks", r.runs)
	}
}

// Three phones in the same sessions show no more than one; in sessions of their own they do.
func TestPhonesOfOneSessionAreOneObservation(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	one := weekly(10, func(w int) float64 { return 0.01*float64(w) + 0.02*random.NormFloat64() })
	var shared, apart [][]point
	for phone := range 3 {
		s, a := slices.Clone(one), slices.Clone(one)
		for i := range s {
			s[i].session = string(rune('a' + i))
			s[i].y += float64(phone)
			a[i].session = string(rune('a'+i)) + string(rune('0'+phone))
		}
		shared, apart = append(shared, s), append(apart, a)
	}
	alone, together, many := riseOf([][]point{one}, 0.05, 0.01), riseOf(shared, 0.05, 0.01), riseOf(apart, 0.05, 0.01)
	gatetest.About(t, "chance of one and of three that share sessions", together.rising, alone.rising)
	gatetest.About(t, "rise", together.by, alone.by)
	gatetest.About(t, "from, the phones' mean", together.from, alone.from+1)
	if many.rising >= alone.rising/10 {
		t.Errorf("three phones in sessions of their own: %g, one: %g", many.rising, alone.rising)
	}
}

// The number of looks of a quarter, by hand: ten and four for each ten sessions, and more where the
// history is younger than six weeks.
func TestLooks(t *testing.T) {
	for _, c := range [][3]float64{{10, 91, 14}, {40, 91, 26}, {60, 91, 34}, {195, 273, 88}, {10, 42, 14}, {10, 21, 28}} {
		gatetest.About(t, "looks", looks(c[0], c[1]), c[2])
	}
}

// A session's runs in one context are one point, on the day of its first; runs without a time, or
// without the number, are left out.
func TestPointsOfSessions(t *testing.T) {
	at := func(day int, session string, frames float64) run.Summary {
		r := gatetest.Run(session, map[string]float64{"frames.count": frames})
		r.Session = session
		if day > 0 {
			r.Started = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		}
		return run.Summarize(r, run.Median, metric.Default())
	}
	v := values{first: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	got := v.pointsOf([]run.Summary{at(5, "one", 10), at(3, "one", 20), at(4, "one", 60), at(0, "", 7), at(8, "", 40), at(9, "", 50)}, run.Cell{Metric: "frames.count"})
	want := []point{{2, 30, "one", 3}, {7, 40, "", 1}, {8, 50, "", 1}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := v.pointsOf([]run.Summary{at(5, "one", 10)}, run.Cell{Metric: "cpu.time_ms"}); len(got) != 0 {
		t.Errorf("of a number that is not there: %+v", got)
	}
}
