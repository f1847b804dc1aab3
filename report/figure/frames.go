package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// usualHz is the refresh rate of a screen whose rate is unknown (paper, section 2.1).
const usualHz = 60

// refreshMS returns the duration of one refresh of the run's screen.
func refreshMS(r run.Run) float64 {
	hz, err := strconv.ParseFloat(r.Context[refreshHz], 64)
	if err != nil || !(hz >= 10 && hz <= 1000) {
		hz = usualHz
	}
	return 1000 / hz
}

// refreshHz is the context property with the screen's rate.
const refreshHz = "refresh_hz"

// Frames is the paper's Figure 3: the frames of one repetition in order, and the UI events' buckets
// that they belong to.
type Frames struct {
	Title      string
	Frames     []run.Frame
	Events     []string        // names of the buckets
	Flagged    map[string]bool // events that deviate for the worse
	LimitMS    float64         // one refresh of the screen
	Long       int             // number of frames that took longer
	LongestMS  float64
	Repetition string // "repetition 4 of 10"
}

// NewFrames uses the repetition with the median number of frames; false where the run kept none.
func NewFrames(title string, r run.Run, flagged map[string]bool) (Frames, bool) {
	var kept []int
	for i, it := range r.Iterations {
		if len(it.Frames) > 0 {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return Frames{}, false
	}
	slices.SortStableFunc(kept, func(a, b int) int { return len(r.Iterations[a].Frames) - len(r.Iterations[b].Frames) })
	i := kept[len(kept)/2]
	it := r.Iterations[i]
	f := Frames{Title: title, LimitMS: refreshMS(r), Frames: it.Frames, Events: run.EventNames(it), Flagged: flagged,
		Repetition: fmt.Sprintf("repetition %d of %d", i+1, len(r.Iterations))}
	for _, frame := range f.Frames {
		f.LongestMS = max(f.LongestMS, frame.DurationMS)
		if frame.DurationMS > f.LimitMS {
			f.Long++
		}
	}
	return f, true
}

// Description describes the figure in words.
func (f Frames) Description() string {
	return fmt.Sprintf("%s, %s: %d longer than %.2f ms, the longest %s ms.",
		prose.Count(len(f.Frames), "frame", "frames"), f.Repetition, f.Long, f.LimitMS, wording.OneDecimal(f.LongestMS))
}

// capMS returns where long frames are cut off, so that the short ones stay visible.
func (f Frames) capMS() float64 {
	sorted := make([]float64, len(f.Frames))
	for i, frame := range f.Frames {
		sorted[i] = frame.DurationMS
	}
	slices.Sort(sorted)
	most := sorted[len(sorted)*95/100] * 1.3
	return min(max(f.LongestMS*1.05, 2*f.LimitMS), max(most, 4*f.LimitMS))
}

const (
	framesTop    = 46.0
	framesPlot   = 170.0
	framesBottom = 44.0
	framesLeft   = 44.0
	framesRight  = 10.0
)

// Draw returns the figure as SVG.
func (f Frames) Draw(id, class string, width float64) string {
	c := &canvas{width: width, height: framesTop + framesPlot + framesBottom}
	x := scale{low: 0, high: float64(len(f.Frames)), from: framesLeft, to: width - framesRight}
	y := scale{low: 0, high: f.capMS(), from: framesTop + framesPlot, to: framesTop}
	f.drawBuckets(c, x)
	f.drawAxes(c, x, y)
	f.drawBars(c, x, y)
	limit := y.at(f.LimitMS)
	c.line("limit", framesLeft, limit, width-framesRight, limit)
	label := fmt.Sprintf("%.2f ms", f.LimitMS)
	c.rect("ground soft", x.to-textWidth(label)-4, limit-17, textWidth(label)+4, 16, 2)
	c.text("small", x.to-2, limit-5, endAt, label)
	return c.svg(id, class, "Frames of "+f.Title, f.Description())
}

// span is a stretch of frames of one bucket.
type span struct{ bucket, from, to int }

func (f Frames) spans() []span {
	var out []span
	for i, frame := range f.Frames {
		if n := len(out); n > 0 && out[n-1].bucket == frame.Bucket {
			out[n-1].to = i + 1
			continue
		}
		out = append(out, span{frame.Bucket, i, i + 1})
	}
	return out
}

// maxSpans limits the buckets that are shaded; more would be a blur.
const maxSpans = 120

func (f Frames) drawBuckets(c *canvas, x scale) {
	spans := f.spans()
	if len(spans) > maxSpans {
		c.text("small muted", framesLeft, framesTop-22, startAt, fmt.Sprintf("%d UI events", len(f.Events)))
		return
	}
	for i, s := range spans {
		event := ""
		if s.bucket >= 0 && s.bucket < len(f.Events) {
			event = f.Events[s.bucket]
		}
		from, to := x.at(float64(s.from)), x.at(float64(s.to))
		class := [2]string{"bucket even", "bucket odd"}[i%2]
		label := wording.Event(event)
		if f.Flagged[event] && event != "" {
			class, label = "bucket flagged", "▼ "+label
		}
		c.rect(class, from, 0, to-from, framesTop+framesPlot, 0)
		f.labelBucket(c, s, label, from, to)
	}
}

func (f Frames) labelBucket(c *canvas, s span, label string, from, to float64) {
	janky := 0
	for _, frame := range f.Frames[s.from:s.to] {
		if frame.DurationMS > f.LimitMS {
			janky++
		}
	}
	class := "small"
	if strings.HasPrefix(label, "▼") {
		class = "small strong"
	}
	if text := fitText(label, to-from-2); text != "" && (text == label || to-from > 40) {
		c.text(class, (from+to)/2, framesTop-30, middleAt, text)
	} else if strings.HasPrefix(label, "▼") {
		c.text(class, (from+to)/2, framesTop-30, middleAt, "▼")
	}
	if text := fmt.Sprintf("%d of %d", janky, s.to-s.from); textWidth(text)*0.92 <= to-from-2 {
		c.text("small muted", (from+to)/2, framesTop-14, middleAt, text)
	}
}

func (f Frames) drawAxes(c *canvas, x, y scale) {
	ticks := y.ticks(5)
	for _, t := range ticks {
		c.line("grid", x.from, y.at(t), x.to, y.at(t))
		c.text("small muted", x.from-6, y.at(t)+4, endAt, wording.Digits(t, stepOf(ticks)))
	}
	c.text("small muted", x.from-6, framesTop-14, endAt, "ms")
	c.line("axis", x.from, y.from, x.to, y.from)
	for _, t := range x.ticks(max(2, int((x.to-x.from)/90))) {
		c.line("axis", x.at(t), y.from, x.at(t), y.from+4)
		c.text("small muted", x.at(t), y.from+16, middleAt, wording.Digits(t, 1))
	}
	c.text("small muted", (x.from+x.to)/2, y.from+34, middleAt, "frames in the order in which they were rendered")
}

// drawBars draws one bar per frame; where there are more frames than pixels, one bar per pixel and
// a half with the longest of its frames. A bar that is cut off ends in a wedge.
func (f Frames) drawBars(c *canvas, x, y scale) {
	slots := min(len(f.Frames), int((x.to-x.from)/1.5))
	width := (x.to - x.from) / float64(slots)
	var smooth, janky, wedges strings.Builder
	for i := range slots {
		first, last := i*len(f.Frames)/slots, (i+1)*len(f.Frames)/slots
		longest := 0.0
		for _, frame := range f.Frames[first:last] {
			longest = max(longest, frame.DurationMS)
		}
		at := x.from + (float64(i)+0.5)*width
		bars := &smooth
		if longest > f.LimitMS {
			bars = &janky
		}
		fmt.Fprintf(bars, "M%s %sV%s", px(at), px(y.from), px(min(y.at(longest), y.from-0.5)))
		if longest > y.high {
			fmt.Fprintf(&wedges, "M%s %sl3 5h-6z", px(at), px(y.to-3))
		}
	}
	stroke := px(math.Max(width*0.78, 0.8))
	fmt.Fprintf(&c.b, `<g stroke-width="%s">`, stroke)
	c.path("bar", smooth.String())
	c.path("bar late", janky.String())
	c.b.WriteString("</g>")
	c.path("wedge", wedges.String())
}
