package hierarchy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Count is what a window comes to: how many views it has and how deep they are nested, how
// often a pixel of it is drawn in the mean, and which of its views are drawn although later
// ones cover them whole, the largest first. The views are those after a UI event.
func (w Window) Count(event string) run.Views {
	out := run.Views{Event: event}
	whole := w.whole().Area()
	drawn := w.drawn()
	var sum float64
	for _, v := range w.Views {
		if v.Visible {
			out.Count++
			out.Depth = max(out.Depth, v.Depth+1)
		}
	}
	if whole == 0 {
		return out
	}
	for i, at := range drawn {
		v := w.Views[at]
		sum += v.Clipped.Area()
		if cover, hidden := w.covered(v, drawn[i+1:]); hidden {
			out.Hidden = append(out.Hidden, run.HiddenView{Class: v.Class, ID: v.ID, CoveredBy: cover, AreaShare: v.Clipped.Area() / whole})
		}
	}
	out.Overdraw = sum / whole
	slices.SortStableFunc(out.Hidden, func(a, b run.HiddenView) int { return cmp.Compare(b.AreaShare, a.AreaShare) })
	if n := len(out.Hidden); n > run.MaxHiddenViews {
		out.Hidden, out.LeftOut = out.Hidden[:run.MaxHiddenViews], n-run.MaxHiddenViews
	}
	return out
}

// whole is the window itself: its first view.
func (w Window) whole() Rect {
	if len(w.Views) == 0 {
		return Rect{}
	}
	return w.Views[0].Clipped
}

// drawn are the places of the views that draw themselves where somebody could see it, in
// the order in which they do.
func (w Window) drawn() (out []int) {
	for i, v := range w.Views {
		if v.Visible && v.Draws && !v.Clipped.Empty() {
			out = append(out, i)
		}
	}
	return out
}

// mostPieces bounds into how many pieces a view is cut by those over it: one that is in more
// is taken for one that can be seen.
const mostPieces = 64

// covered reports whether later views that are believed to be opaque cover one whole, and
// the class of the one that covers most of it.
func (w Window) covered(v View, later []int) (by string, whole bool) {
	left, most := []Rect{v.Clipped}, 0.0
	for _, at := range later {
		over := w.Views[at]
		part := v.Clipped.within(over.Clipped)
		if part.Empty() || !opaque(over.Class) {
			continue
		}
		if part.Area() > most {
			by, most = over.Class, part.Area()
		}
		var rest []Rect
		for _, piece := range left {
			rest = append(rest, piece.without(part)...)
		}
		if left = rest; len(left) == 0 {
			return by, true
		}
		if len(left) > mostPieces {
			return "", false
		}
	}
	return "", false
}

// without is what of a rectangle another one leaves, in at most four pieces.
func (r Rect) without(o Rect) (out []Rect) {
	part := r.within(o)
	if part.Empty() {
		return []Rect{r}
	}
	for _, piece := range []Rect{
		{r.Left, r.Top, r.Right, part.Top}, {r.Left, part.Bottom, r.Right, r.Bottom},
		{r.Left, part.Top, part.Left, part.Bottom}, {part.Right, part.Top, r.Right, part.Bottom},
	} {
		if !piece.Empty() {
			out = append(out, piece)
		}
	}
	return out
}

// seeThrough ends the names of classes that draw and let through what is behind them: letters,
// marks and bars.
var seeThrough = []string{
	"TextView", "EditText", "Chronometer", "TextClock", "CheckBox", "RadioButton", "Switch", "SwitchCompat", "ToggleButton",
	"ProgressBar", "ProgressIndicator", "SeekBar", "RatingBar", "Slider", "ImageButton", "Space", "ViewStub", "Guideline", "Barrier", "AbsSeekBar",
}

// opaque is what is believed of a class: that it lets nothing through, but for those that
// mostly do.
func opaque(class string) bool {
	class = class[strings.LastIndexAny(class, ".$")+1:]
	return !slices.ContainsFunc(seeThrough, func(c string) bool { return strings.HasSuffix(class, c) })
}

// Believed is what a user should know of what Count finds hidden.
const Believed = "whether a view is opaque is not told: all that draw themselves are believed to be but text, marks and bars, and backgrounds of layouts, elevation and movement are not known"
