package screening

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// usual is the prior of times and joules, on their logarithms.
var usual = Prior{Between: 0.02, Repetition: 0.05, Floor: 0.005}

// sd returns how far the 84.13 % quantile lies above the level: the standard deviation, if the
// outlook were a normal distribution.
func sd(o Outlook) float64 { return o.Quantile(distuv.UnitNormal.CDF(1)) - o.Level() }

// world draws sessions of a phone.
type world struct {
	tau, sigma float64
	heavy      bool // sessions differ by Student's t with three degrees of freedom
}

func (w world) draw(rng *rand.Rand, n int, within *Within) Session {
	heat := rng.NormFloat64()
	if w.heavy {
		heat = distuv.StudentsT{Sigma: 1 / math.Sqrt(3), Nu: 3, Src: rng}.Rand()
	}
	sum, squares := 0.0, 0.0
	for range n {
		x := 2 + w.tau*heat + w.sigma*rng.NormFloat64()
		sum, squares = sum+x, squares+x*x
	}
	mean := sum / float64(n)
	if n > 1 {
		within.Add(math.Sqrt(max(squares-float64(n)*mean*mean, 0)/float64(n-1)), n)
	}
	return Session{Centre: mean, N: n}
}

// shares draws new sessions of an unchanged build and returns the share that is cleared, the share
// of builds that are 10 % worse that is cleared, and the share that looks worse at 1 %.
func (w world) shares(seed uint64, draws, sessions int, of []int, n int) (cleared, missed, alarmed float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	for range draws {
		var within Within
		var past []Session
		for i := range sessions {
			past = append(past, w.draw(rng, of[i%len(of)], &within))
		}
		now := w.draw(rng, n, &within)
		o := NewOutlook(past, n, within, usual)
		if o.Below(now.Centre-math.Log(1.1)) <= 0.02 {
			cleared++
		}
		if o.Below(now.Centre) <= 0.02 { // were it 10 % worse
			missed++
		}
		if o.TailChance(now.Centre, true) <= 0.01 {
			alarmed++
		}
	}
	return cleared / float64(draws), missed / float64(draws), alarmed / float64(draws)
}

// In all, 2 % of builds that are worse by 10 % are cleared, however many repetitions the sessions
// have, equal or not, and however sessions differ; and 1 % of unchanged ones look worse at 1 %.
func TestOutlookClearsFewWorseBuilds(t *testing.T) {
	draws := 600
	if testing.Short() {
		draws = 120
	}
	worlds := []world{{tau: 0, sigma: 0.01}, {tau: 0, sigma: 0.05}, {tau: 0.01, sigma: 0.02}, {tau: 0.03, sigma: 0.02}, {tau: 0.06, sigma: 0.03}, {tau: 0.03, sigma: 0.15}, {tau: 0.1, sigma: 0.1}, {tau: 0.05, sigma: 0.02, heavy: true}}
	all, wrong, alarms := 0.0, 0.0, 0.0
	for i, w := range worlds {
		for k, sessions := range []int{5, 9, 18} {
			for m, c := range []struct {
				of []int
				n  int
			}{{[]int{1}, 1}, {[]int{1}, 10}, {[]int{3}, 3}, {[]int{10}, 1}, {[]int{10}, 3}, {[]int{1, 3, 10}, 3}} {
				cleared, missed, alarmed := w.shares(uint64(100*i+10*k+m), draws, sessions, c.of, c.n)
				what := fmt.Sprintf("%+v, %d sessions of %v, then one of %d", w, sessions, c.of, c.n)
				t.Logf("%s: cleared %.3f, missed %.3f, alarmed %.3f", what, cleared, missed, alarmed)
				if limit := 0.035 + 3*math.Sqrt(0.035*0.965/float64(draws)); missed > limit {
					t.Errorf("%s: %.3f of the worse are cleared, want at most %.3f", what, missed, limit)
				}
				if least := 0.9; w.sigma == 0.01 && cleared < least {
					t.Errorf("%s: %.3f of the unchanged are cleared, want at least %.2f", what, cleared, least)
				}
				all, wrong, alarms = all+1, wrong+missed, alarms+alarmed
			}
		}
	}
	if wrong/all > 0.02 {
		t.Errorf("%.4f of all that are worse are cleared, want at most 0.02", wrong/all)
	}
	if alarms/all > 0.01 {
		t.Errorf("%.4f of all that are unchanged look worse, want at most 0.01", alarms/all)
	}
}

// counted computes Below and the level by summing a fine grid of σ, τ and every session by itself,
// with nothing left out or merged.
func counted(past []Session, n int, w Within, p Prior, at ...float64) (below []float64, level float64) {
	const points = 130
	sum := 0.0
	below = make([]float64, len(at))
	lowS, highS := 1e-4, 2.0
	if w.DF > 20 { // it is known
		s, reach := math.Sqrt(w.Squares/w.DF), math.Exp(5/math.Sqrt(2*w.DF))
		lowS, highS = s/reach, s*reach
	}
	lowT, highT := p.Between/50, 8.0
	for i := range points {
		s := lowS * math.Pow(highS/lowS, float64(i)/(points-1))
		for k := range points {
			tau := lowT * math.Pow(highT/lowT, float64(k)/(points-1))
			precision, weighted := 0.0, 0.0
			log := -w.DF*math.Log(s) - w.Squares/(2*s*s) - math.Log1p(s*s/(p.Repetition*p.Repetition)) - math.Log1p(tau/p.Between) + math.Log(s) + math.Log(tau)
			observe := func(y, v float64) { precision, weighted = precision+1/v, weighted+y/v }
			for _, o := range past {
				observe(o.Centre, tau*tau+s*s/float64(o.N)+p.Floor*p.Floor)
			}
			if p.Level.SD > 0 {
				observe(p.Level.Centre, p.Level.SD*p.Level.SD)
			}
			mean := weighted / precision
			for _, o := range past {
				v := tau*tau + s*s/float64(o.N) + p.Floor*p.Floor
				log -= math.Log(v)/2 + (o.Centre-mean)*(o.Centre-mean)/(2*v)
			}
			if p.Level.SD > 0 {
				log -= (p.Level.Centre - mean) * (p.Level.Centre - mean) / (2 * p.Level.SD * p.Level.SD)
			}
			next := tau*tau + s*s/float64(n) + p.Floor*p.Floor
			log -= math.Log(precision)/2 + p.DF/2*math.Log(next) + p.DF*p.Spread*p.Spread/(2*next)
			weight := math.Exp(log)
			sum += weight
			for i, x := range at {
				below[i] += weight * math.Erfc((mean-x)/math.Sqrt(2*(next+1/precision))) / 2
			}
			level += weight * mean
		}
	}
	for i := range below {
		below[i] /= sum
	}
	return below, level / sum
}

func TestOutlookAgainstFineGrid(t *testing.T) {
	for name, c := range map[string]struct {
		w     world
		of    []int
		n     int
		prior func(*Prior)
	}{
		"single repetitions":      {world{tau: 0.02, sigma: 0.03}, []int{1, 1, 1, 1, 1}, 1, nil},
		"and then ten":            {world{tau: 0.02, sigma: 0.03}, []int{1, 1, 1, 1, 1}, 10, nil},
		"unlike":                  {world{tau: 0.03, sigma: 0.06}, []int{1, 3, 10, 1, 3, 10, 1, 3, 10}, 3, nil},
		"tens, and then one":      {world{tau: 0.01, sigma: 0.04}, []int{10, 10, 10, 10, 10, 10}, 1, nil},
		"two beside others":       {world{tau: 0.01, sigma: 0.02}, []int{5, 5}, 5, func(p *Prior) { p.Spread, p.DF = 0.03, 8 }},
		"one, and told the level": {world{tau: 0.01, sigma: 0.02}, []int{5}, 5, func(p *Prior) { p.Spread, p.DF, p.Level = 0.02, 6, LevelPrior{2.01, 0.015} }},
		"all over the place":      {world{tau: 0.3, sigma: 0.2}, []int{3, 3, 3, 3, 3, 3}, 3, nil},
		"sixty":                   {world{tau: 0.03, sigma: 0.05}, make([]int, 60), 3, nil},
		"hundreds of repetitions": {world{tau: 0.02, sigma: 0.1}, []int{300, 310, 320, 290, 305, 330}, 300, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4)) // its own, whatever runs before
			p := usual
			if c.prior != nil {
				c.prior(&p)
			}
			var w Within
			var past []Session
			for i, n := range c.of {
				if n == 0 {
					n = 1 + i%5
				}
				past = append(past, c.w.draw(rng, n, &w))
			}
			o := NewOutlook(past, c.n, w, p)
			zs := []float64{-3, -2, -1, 0, 1, 2}
			xs := make([]float64, len(zs))
			for i, z := range zs {
				xs[i] = o.Level() + z*sd(o)
			}
			want, level := counted(past, c.n, w, p, xs...)
			if d := math.Abs(o.Level() - level); d > 0.02*sd(o) {
				t.Errorf("the level is %.5f, want %.5f", o.Level(), level)
			}
			for i, x := range xs {
				if got := o.Below(x); math.Abs(got-want[i]) > 0.001+0.06*min(want[i], 1-want[i]) {
					t.Errorf("below %+.1f standard deviations: %.5f, want %.5f", zs[i], got, want[i])
				}
				if got := o.Above(x); math.Abs(got+o.Below(x)-1) > 1e-9 {
					t.Errorf("above %+.1f standard deviations: %.5f", zs[i], got)
				}
			}
		})
	}
}

// Ten thousand sessions leave only the next session itself uncertain: they show its spread to a
// hundredth, whatever floor is assumed.
func TestManySessions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	w := world{tau: 0.03, sigma: 0.05}
	var within Within
	var past []Session
	for i := range 10_000 {
		past = append(past, w.draw(rng, []int{1, 3, 10, 25}[i%4], &within))
	}
	o := NewOutlook(past, 4, within, usual)
	if want := math.Sqrt(0.03*0.03 + 0.05*0.05/4); math.Abs(sd(o)-want) > 0.01*want || math.Abs(o.Level()-2) > 0.002 {
		t.Errorf("%.5f ± %.5f, want 2 ± %.5f", o.Level(), sd(o), want)
	}
}

func TestOutlookUnknown(t *testing.T) {
	two := []Session{{2, 3}, {2.01, 3}}
	with := func(change func(*Prior)) Prior { p := usual; change(&p); return p }
	for name, c := range map[string]struct {
		past  []Session
		prior Prior
		want  bool
	}{
		"nothing":                     {nil, usual, false},
		"one":                         {two[:1], usual, false},
		"one, and how others differ":  {two[:1], with(func(p *Prior) { p.Spread, p.DF = 0.02, 4 }), true},
		"nothing but how they differ": {nil, with(func(p *Prior) { p.Spread, p.DF = 0.02, 4 }), false},
		"two without a scale":         {two, with(func(p *Prior) { p.Between = 0 }), false},
		"two, and none of repeating":  {two, with(func(p *Prior) { p.Repetition = math.NaN() }), false},
	} {
		if got := NewOutlook(c.past, 3, Within{}, c.prior).Known(); got != c.want {
			t.Errorf("%s: known %t", name, got)
		}
	}
}

// Sessions without repetitions count as having one, and identical sessions have the least spread
// that is assumed.
func TestSessionsWithoutSpread(t *testing.T) {
	var alike []Session
	for range 30 {
		alike = append(alike, Session{Centre: 2})
	}
	o := NewOutlook(alike, 0, Within{}, usual)
	if sd(o) < usual.Floor || sd(o) > 2*usual.Floor || math.Abs(o.Level()-2) > 1e-12 {
		t.Errorf("%g ± %g, want 2 and no less than ± %g", o.Level(), sd(o), usual.Floor)
	}
}

// However many sessions there are, there is little to sum: up to twenty repetitions each number has
// a group, and above that those that differ by less than a tenth.
func TestSessionsAreGrouped(t *testing.T) {
	var past []Session
	for n := range 20 {
		past = append(past, Session{2, n + 1}, Session{3, n + 1})
	}
	if got := grouped(past); len(got) != 20 || got[4].n != 5 || got[4].count != 2 || got[4].mean != 2.5 || got[4].squares != 0.5 {
		t.Errorf("%d groups, the fifth %+v; want 20, and two of five repetitions at 2.5", len(got), got[4])
	}
	for n := range 10_000 {
		past = append(past, Session{2 + float64(n%7)/100, n + 1})
	}
	if got := grouped(past); len(got) < 60 || len(got) > 100 {
		t.Errorf("%d groups of up to ten thousand repetitions", len(got))
	}
	for _, sessions := range []int{3, 40, len(past)} {
		if got := NewOutlook(past[:sessions], 5, Within{}, usual); len(got.parts) > 24 {
			t.Errorf("of %d sessions an outlook of %d parts", sessions, len(got.parts))
		}
	}
}

func TestWithinAdd(t *testing.T) {
	var w Within
	w.Add(2, 3)
	w.Add(5, 1)
	w.Add(1, 5)
	if w != (Within{Squares: 12, DF: 6}) {
		t.Errorf("%+v, want 2·4 + 4·1 of six degrees of freedom", w)
	}
	if got := w.SD(); math.Abs(got-math.Sqrt2) > 1e-12 {
		t.Errorf("repetitions waver by %g, want the root of 12/6", got)
	}
	if got := (Within{}).SD(); got != 0 {
		t.Errorf("of no repetitions: %g, want 0", got)
	}
}

// Student's t of four degrees of freedom, also far out; and quantiles invert chances.
func TestTailChance(t *testing.T) {
	reference := distuv.StudentsT{Sigma: 1, Nu: 4}
	for _, z := range []float64{-5000, -900, -30, -3, -0.5, 0, 1, 4} {
		if got, want := tBelow(z), reference.CDF(z); math.Abs(got-want) > 1e-4*want {
			t.Errorf("t below %g: %g, want %g", z, got, want)
		}
	}
	if tBelow(math.Inf(1)) != 1 || tBelow(math.Inf(-1)) != 0 {
		t.Error("not all lies below infinity")
	}
	o := NewOutlook([]Session{{2, 3}, {2.02, 3}, {1.97, 3}, {2.01, 3}, {1.99, 3}}, 3, Within{Squares: 0.01, DF: 10}, usual)
	for _, p := range []float64{0.001, 0.02, 0.1, 0.5, 0.9, 0.995} {
		if got := o.Below(o.Quantile(p)); math.Abs(got-p) > 1e-6 {
			t.Errorf("below its quantile of %g: %g", p, got)
		}
		if got := o.TailChance(o.TailQuantile(p), false); math.Abs(got-p) > 1e-6 {
			t.Errorf("rarely below its reach of %g: %g", p, got)
		}
		if d := o.TailChance(o.TailQuantile(p), true) - (1 - p); math.Abs(d) > 1e-6 {
			t.Errorf("rarely above its reach of %g: off by %g", p, d)
		}
	}
	if narrow, wide := o.Quantile(0.99), o.TailQuantile(0.99); wide <= narrow {
		t.Errorf("one of a hundred lies above %g, with room for bad days above %g", narrow, wide)
	}
}

// 50 cells of fifty sessions each take a few milliseconds.
func BenchmarkOf(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var within Within
	var past []Session
	for i := range 50 {
		past = append(past, world{tau: 0.03, sigma: 0.05}.draw(rng, []int{1, 3, 10}[i%3], &within))
	}
	for b.Loop() {
		o := NewOutlook(past, 3, within, usual)
		o.Below(1.9)
		o.Quantile(0.02)
		o.TailQuantile(0.995)
	}
}
