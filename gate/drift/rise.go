package drift

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate/history/level"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

const (
	quarterDays = 91
	// pastDays is the largest age of a session: the two quarters before the present one show its
	// level and the noise.
	pastDays = 3 * quarterDays
	// leastSessions is the least number of sessions of a rise: of fewer, four orders in a row prove
	// nothing.
	leastSessions = 4
)

// sinceDays are the days before the newest session on which a rise may have begun, longest first.
var sinceDays = []float64{quarterDays, 63, 42}

// looks returns the number of independent looks that the refreshes of a quarter are worth: as they
// see mostly the same sessions, they are fewer. A history of only a few weeks has all of them still
// to come. The numbers were found by simulation, and TestSweepOfCreeps tests them.
func looks(sessions, days float64) float64 {
	const soon = 42
	return (10 + 0.4*sessions) * max(1, soon/days)
}

// point is one session's value of a number in one context, on the judged scale.
type point struct {
	day     float64 // since the first run
	y       float64
	session string // "" for a session of its own
	runs    int
}

// rise is how far a number has risen within a quarter, steadily since some day; below zero where it
// has fallen.
type rise struct {
	from            float64 // the level before, the mean over the contexts
	by, low, high   float64
	rising, falling float64 // one-sided chances of it in a quiet quarter
	runs            int     // behind it
}

// riseOf returns the rise of a number that was constant before. Each context has a level of its
// own; what a session shows in several contexts is one observation. Without enough sessions the
// field by is NaN. alpha is one minus the confidence of the interval.
func riseOf(contexts [][]point, least, alpha float64) rise {
	first, newest := math.Inf(1), math.Inf(-1)
	for _, c := range contexts {
		for _, p := range c {
			newest = max(newest, p.day)
		}
	}
	var kept [][]point
	longest := 0
	for _, c := range contexts {
		if c = present(c, newest, least); len(c) > 0 {
			kept, longest, first = append(kept, c), max(longest, len(c)), min(first, c[0].day)
		}
	}
	best, strongest := rise{by: math.NaN(), rising: 1, falling: 1}, -1.0
	if longest < leastSessions {
		return best
	}
	for i, days := range sinceDays {
		since := newest - days
		if i > 0 && since <= first {
			break
		}
		if f := fitted(kept, max(since, first)); f.df > 0 && math.Abs(f.t()) > strongest {
			strongest = math.Abs(f.t())
			best = f.rise(first, newest, alpha)
		}
	}
	for _, c := range kept {
		for _, p := range c {
			best.runs += p.runs
		}
	}
	return best
}

// present returns the sessions in the order of time: those of the quarter, and those before it at
// the level on which it began.
func present(c []point, newest, least float64) []point {
	c = slices.DeleteFunc(slices.Clone(c), func(p point) bool { return p.day < newest-pastDays })
	slices.SortStableFunc(c, func(a, b point) int { return cmp.Compare(a.day, b.day) })
	var before []float64
	for _, p := range c {
		if p.day < newest-quarterDays {
			before = append(before, p.y)
		}
	}
	const neither = 0 // a step in either direction begins a level
	return c[level.Present(before, neither, least).From:]
}

// line is a level that has risen steadily since some day, fitted by least squares.
type line struct {
	since, slope, se float64
	n, df            float64 // sessions, and the degrees of freedom of the noise
	level            float64 // before that day, the mean over the contexts
}

// t returns the slope in standard errors; 0 where neither is defined.
func (l line) t() float64 {
	if l.slope == 0 {
		return 0
	}
	return l.slope / l.se
}

// fitted fits the line that rises since a day.
func fitted(contexts [][]point, since float64) line {
	type sums struct{ x, y, n float64 }
	var alone []sums
	shared := map[string]sums{}
	out := line{since: since}
	levels, parts := make([]sums, len(contexts)), 0.0
	for i, c := range contexts {
		m := &levels[i]
		for _, p := range c {
			m.x, m.y, m.n = m.x+max(0, p.day-since), m.y+p.y, m.n+1
		}
		m.x, m.y = m.x/m.n, m.y/m.n
		isNew := true
		for _, p := range c {
			d := sums{max(0, p.day-since) - m.x, p.y - m.y, 1}
			if p.session == "" {
				alone = append(alone, d)
				continue
			}
			s, known := shared[p.session]
			isNew = isNew && !known
			shared[p.session] = sums{s.x + d.x, s.y + d.y, s.n + 1}
		}
		if isNew { // nothing relates its level to those of the others
			parts++
		}
	}
	for _, s := range shared {
		alone = append(alone, sums{s.x / s.n, s.y / s.n, 1})
	}
	var xx, xy, yy float64
	for _, s := range alone {
		xx, xy, yy = xx+s.x*s.x, xy+s.x*s.y, yy+s.y*s.y
	}
	if !(xx > 0) {
		return line{}
	}
	out.slope, out.n = xy/xx, float64(len(alone))
	out.df = out.n - parts - 1
	out.se = math.Sqrt(max(0, yy-xy*xy/xx) / out.df / xx)
	for _, m := range levels {
		out.level += (m.y - out.slope*m.x) / float64(len(levels))
	}
	return out
}

// rise returns the line's rise over the sessions from the first day to the newest.
func (l line) rise(first, newest, alpha float64) rise {
	days, t := newest-l.since, distuv.StudentsT{Sigma: 1, Nu: l.df}
	reach, times := t.Quantile(1-alpha/2)*l.se, looks(l.n, newest-first)
	out := rise{from: l.level, by: l.slope * days, low: (l.slope - reach) * days, high: (l.slope + reach) * days}
	out.rising, out.falling = min(1, times*t.Survival(l.t())), min(1, times*t.Survival(-l.t()))
	return out
}

// pointsOf returns the sessions of a context, without those that have no time.
func (v values) pointsOf(runs []run.Summary, cell run.Cell) []point {
	places := map[string]int{}
	var out []point
	for _, r := range runs {
		x := v.of([]run.Summary{r}, cell)
		if len(x) == 0 || r.Started.IsZero() {
			continue
		}
		p := point{r.Started.Sub(v.first).Hours() / 24, x[0], r.Session, 1}
		at, known := places[r.Session]
		if known && r.Session != "" {
			o := &out[at]
			o.y = (o.y*float64(o.runs) + p.y) / float64(o.runs+1)
			o.day, o.runs = min(o.day, p.day), o.runs+1
			continue
		}
		places[r.Session] = len(out)
		out = append(out, p)
	}
	return out
}

// creep returns the rise as a shift; nil where there are too few sessions.
func (v values) creep(r rise) *Shift {
	if math.IsNaN(r.by) {
		return nil
	}
	return v.result(stat.Shift{Estimate: r.by, Low: r.low, High: r.high}, r.from, r.runs)
}
