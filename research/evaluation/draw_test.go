package evaluation

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/research/evaluation/series"
)

// told returns series whose values encode where they are from: the hundreds are the session, the
// ones the place in it, the thousands the series.
func told(n, sessions, long int) []series.Series {
	var out []series.Series
	for k := range n {
		s := series.Series{Name: fmt.Sprint("series ", k+1), Device: "phone"}
		for session := range sessions {
			for place := range long {
				s.Values = append(s.Values, float64(1000*(k+1)+100*(session+1)+place))
				s.Session = append(s.Session, fmt.Sprint("session ", session+1))
			}
		}
		out = append(out, s)
	}
	return out
}

// sceneOf draws one, or fails the test.
func sceneOf(t *testing.T, q Question, all []series.Series, draw int) scene {
	t.Helper()
	p, err := poolOf(q, all)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.scene(q, draw, q.chance(1, draw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// session is the session that a value of told is of.
func sessionIn(v float64) int { return int(v) % 1000 / 100 }

func TestAcrossSessionsTheNewRunIsOfASessionOfItsOwn(t *testing.T) {
	q := Question{Design: Design{4, 2, 3}, AcrossSessions: true, Metrics: 3, World: Plain}
	news := map[int]bool{}
	for draw := range 200 {
		p := sceneOf(t, q, told(4, 6, 4), draw).phones[0]
		if len(p.cells) != 3 {
			t.Fatalf("%d metrics, want 3", len(p.cells))
		}
		now := sessionIn(p.cells[0].fresh[0])
		news[now] = true
		for k, c := range p.cells {
			if len(c.fresh) != 3 || len(c.history) != 4 || len(c.session) != 4 {
				t.Fatalf("a new run of %d, %d runs, a session of %d; want 3, 4 and 4", len(c.fresh), len(c.history), len(c.session))
			}
			for i, v := range c.fresh {
				if sessionIn(v) != now || i > 0 && v != c.fresh[i-1]+1 {
					t.Fatalf("the new run is %v, want three that follow each other in session %d", c.fresh, now)
				}
			}
			before := 0
			for i, values := range c.history {
				session := sessionIn(values[0])
				if len(values) != 2 || values[1] != values[0]+1 || session == now || session <= before {
					t.Fatalf("the history is %v beside session %d, want two that follow each other of sessions in the order of time", c.history, now)
				}
				if session != sessionIn(p.cells[0].history[i][0]) {
					t.Fatalf("metric %d has run %d of another session than the first", k+1, i+1)
				}
				before = session
			}
		}
	}
	if len(news) != 6 {
		t.Errorf("the new runs are of sessions %v, want each of six", news)
	}
}

// Three sessions serve ten runs, the fourth is the new one's.
func TestFewSessionsServeManyRuns(t *testing.T) {
	q := Question{Design: Design{10, 2, 2}, AcrossSessions: true, World: Plain}
	c := sceneOf(t, q, told(1, 4, 6), 0).phones[0].cells[0]
	times := map[int]int{}
	for _, values := range c.history {
		times[sessionIn(values[0])]++
	}
	if len(c.history) != 10 || len(times) != 3 || times[sessionIn(c.fresh[0])] != 0 {
		t.Fatalf("sessions %v beside %d, want ten runs of the three others", times, sessionIn(c.fresh[0]))
	}
	for session, n := range times {
		if n < 3 || n > 4 {
			t.Errorf("session %d serves %d runs, want three or four", session, n)
		}
	}
}

func TestInOrderTheHistoryIsWhatCameBefore(t *testing.T) {
	for _, across := range []bool{false, true} {
		q := Question{Design: Design{3, 1, 1}, AcrossSessions: across, World: InOrder}
		seen := map[float64]bool{}
		for draw := range 100 {
			c := sceneOf(t, q, told(1, 9, 1), draw).phones[0].cells[0]
			seen[c.fresh[0]] = true
			for i, values := range c.history {
				if want := c.fresh[0] - float64(100*(3-i)); values[0] != want {
					t.Fatalf("across %v: run %d is %v beside %v, want %v", across, i+1, values[0], c.fresh[0], want)
				}
			}
		}
		if len(seen) != 6 {
			t.Errorf("across %v: %d new runs, want each of the six that have three before them", across, len(seen))
		}
	}
}

func TestOneByOneRepetitionsComeFromAllOver(t *testing.T) {
	q := Question{Design: Design{5, 10, 10}, World: Plain}
	sessions := map[int]bool{}
	c := sceneOf(t, q, told(1, 6, 4), 3).phones[0].cells[0]
	for _, v := range c.fresh {
		sessions[sessionIn(v)] = true
	}
	if len(c.history) != 5 || len(c.history[0]) != 10 || len(c.session) != 24 || len(sessions) < 3 {
		t.Errorf("%d runs of %d, a new one of sessions %v, rounds of %d repetitions", len(c.history), len(c.history[0]), sessions, len(c.session))
	}
}

// All shifts and rules judge the same draws, and another seed draws others.
func TestDrawsAreTheSameForEveryShiftAndRule(t *testing.T) {
	all := told(3, 6, 4)
	q := Question{Design: Design{4, 2, 3}, World: Plain}
	other := q
	other.Shift, other.Rule = 0.2, Bencher
	a, b := sceneOf(t, q, all, 7).phones[0].cells[0], sceneOf(t, other, all, 7).phones[0].cells[0]
	if !slices.Equal(a.fresh, b.fresh) || !slices.Equal(a.history[3], b.history[3]) {
		t.Errorf("%v and %v, want the same", a.fresh, b.fresh)
	}
	if q.chance(1, 0).Uint64() == q.chance(2, 0).Uint64() || q.chance(1, 0).Uint64() == q.chance(1, 1).Uint64() {
		t.Error("another seed or draw gives the same numbers")
	}
}

func TestWhatADesignNeedsOfSeries(t *testing.T) {
	uneven := series.Series{Name: "s", Values: []float64{1, 2, 3, 4, 5}, Session: []string{"a", "a", "b", "b", "b"}}
	for _, c := range []struct {
		design Design
		across bool
		world  World
		want   bool
	}{
		{Design{9, 9, 9}, false, Plain, true},
		{Design{2, 2, 1}, false, InOrder, true},
		{Design{2, 2, 2}, false, InOrder, false},
		{Design{1, 2, 3}, true, Plain, true},
		{Design{1, 3, 3}, true, Plain, false},
		{Design{1, 3, 2}, true, Plain, true},
		{Design{0, 1, 3}, true, Plain, true},
		{Design{1, 2, 4}, true, Plain, false},
		{Design{1, 2, 2}, true, InOrder, true},
		{Design{2, 2, 2}, true, InOrder, false},
	} {
		if got := (Question{Design: c.design, AcrossSessions: c.across, World: c.world}).fits(uneven); got != c.want {
			t.Errorf("%v across %v, %s: fits is %v, want %v", c.design, c.across, c.world, got, c.want)
		}
	}
}

// A few repetitions, widened, vary as much as the noise that they are a sample of: the ordinary
// variance, and not (n-1)/n of it.
func TestWidenedRoundsVaryAsMuchAsTheirNoise(t *testing.T) {
	s := source{session: []float64{90, 100, 120}}
	mean, squares, want, centre := 0.0, 0.0, 0.0, 0.0
	for _, v := range s.session {
		centre += math.Log(v) / 3
	}
	for _, v := range s.session {
		want += (math.Log(v) - centre) * (math.Log(v) - centre) / 2
	}
	drawn := s.widened()
	for _, v := range drawn {
		mean += math.Log(v) / 3
	}
	for _, v := range drawn {
		squares += (math.Log(v) - mean) * (math.Log(v) - mean) / 3
	}
	if math.Abs(mean-centre) > 1e-12 || math.Abs(squares-want) > 1e-12 {
		t.Errorf("level %v and variance %v of logarithms, want %v and %v", mean, squares, centre, want)
	}
	around := source{session: []float64{-1, 1}}.widened()
	if math.Abs(around[1]-math.Sqrt2) > 1e-12 || math.Abs(around[0]+math.Sqrt2) > 1e-12 {
		t.Errorf("%v, want values around zero drawn apart by the square root of two", around)
	}
}

func TestWorseIsTheMetricsOwnWay(t *testing.T) {
	for _, c := range []struct {
		metric       string
		values       []float64
		v, shift     float64
		want         float64
		higherBetter bool
	}{
		{"", []float64{10, 20}, 10, 0.2, 12, false},
		{"energy.total_j", []float64{10, 20}, 10, 0.2, 12, false},
		{"frames.count", []float64{10, 20}, 10, 0.2, 8, true},
		{"frames.smooth_ratio", []float64{0.9, 0.8}, 0.9, 0.2, 0.7, true},
		{"frames.smooth_ratio", []float64{0.9, 0.8}, 0.1, 0.2, 0, true},
		{"", []float64{-3, 1}, -3, 0.5, -2, false}, // half of the mean size of 2
	} {
		s := series.Series{Metric: c.metric, Values: c.values}
		from := source{of: s, metric: metricOf(s)}
		if got := from.worsened(c.v, c.shift); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%q: %v worse by %v is %v, want %v", c.metric, c.v, c.shift, got, c.want)
		}
		turned := from.upwards([]float64{1, 2})[0]
		if (turned[0] > turned[1]) != c.higherBetter {
			t.Errorf("%q: upwards is %v", c.metric, turned)
		}
	}
}
