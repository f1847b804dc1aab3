package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// Rounds is two builds alternately: the difference of each round in the order of time, with the
// estimate and its interval.
type Rounds struct {
	Title  string
	Metric metric.Metric
	// Differences are the head's minus the base's value of each round: as shares of the base's if
	// Shares is set, else in the metric's unit. So are Estimate and Interval.
	Differences []float64
	Shares      bool
	Estimate    float64
	Interval    *[2]float64 // nil where there is none
	Tone        document.Tone
}

const (
	roundsTall = 168.0
	maxDrawn   = 200 // rounds
)

// Draw returns the figure as SVG.
func (f Rounds) Draw(id, class string, width float64) string {
	c := &canvas{width: width, height: roundsTall + axisTall}
	shown := f.shown()
	y := f.scale(shown)
	left := sideRoom
	ticks := y.ticks(5)
	for _, t := range ticks {
		left = max(left, textWidth(f.say(t))+16)
	}
	right := width - sideRoom
	step := (right - left) / float64(max(len(shown), 1))
	for _, t := range ticks {
		c.line("grid", left, y.at(t), right, y.at(t))
		c.text("small muted", left-6, y.at(t)+4, endAt, f.say(t))
	}
	if b := f.Interval; b != nil {
		top, bottom := y.at(max(b[0], b[1])), y.at(min(b[0], b[1]))
		c.rect("box soft", left, top, right-left, max(bottom-top, 1), 0)
	}
	c.line("limit", left, y.at(0), right, y.at(0))
	c.line("median", left, y.at(f.Estimate), right, y.at(f.Estimate))
	for i, d := range shown {
		c.circle("mark "+classOf(f.Tone), left+(float64(i)+0.5)*step, y.at(d), 4)
	}
	c.text("small halo", left+4, y.at(0)-5, startAt, "as the base build")
	every := max(1, int(math.Ceil(40/max(step, 1))))
	for i := range shown {
		if i == 0 || (i+1)%every == 0 {
			c.text("small muted", left+(float64(i)+0.5)*step, roundsTall+15, middleAt, fmt.Sprint(i+1))
		}
	}
	c.text("small muted", (left+right)/2, roundsTall+33, middleAt, "round")
	return c.svg(id, class, f.Title, f.Description())
}

func (f Rounds) shown() []float64 {
	return slices.DeleteFunc(slices.Clone(f.Differences[:min(len(f.Differences), maxDrawn)]), func(d float64) bool { return !finite(d) })
}

// scale covers the differences, the estimate with its interval, and zero.
func (f Rounds) scale(shown []float64) scale {
	all := append([]float64{0, f.Estimate}, shown...)
	if f.Interval != nil {
		all = append(all, f.Interval[:]...)
	}
	all = slices.DeleteFunc(all, func(v float64) bool { return !finite(v) })
	s := newScale(slices.Min(all), slices.Max(all), roundsTall-8, 8, false)
	if low := slices.Min(all); low >= 0 { // room below, so that the line of the base is not at the edge
		s.low = -0.06 * (s.high - low)
	}
	return s
}

// say formats a difference with its sign and unit.
func (f Rounds) say(d float64) string {
	if f.Shares {
		return wording.Signed(d)
	}
	return wording.Shift(f.Metric, d, 0)
}

// Description describes the figure in words.
func (f Rounds) Description() string {
	worse := 0
	for _, d := range f.Differences {
		if d != 0 && (d > 0) == (f.Metric.Direction == metric.LowerIsBetter) {
			worse++
		}
	}
	text := fmt.Sprintf("%s, of which the head build is worse in %d. Estimate %s", prose.Count(len(f.Differences), "round", "rounds"), worse, f.say(f.Estimate))
	if b := f.Interval; b != nil {
		text += ", interval " + wording.FromTo(f.say(b[0]), f.say(b[1]))
	}
	return strings.TrimSuffix(text, ".") + "."
}
