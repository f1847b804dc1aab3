package hierarchy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Count returns the statistics of a window: the number of its views and the depth of their nesting,
// how often a pixel is drawn on average, and the views that are drawn although later ones cover
// them completely, the largest first. The views are attributed to a UI event.
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

// whole returns the window's bounds: those of its first view.
func (w Window) whole() Rect {
	if len(w.Views) == 0 {
		return Rect{}
	}
	return w.Views[0].Clipped
}

// drawn returns the indices of the views that draw themselves and can be visible, in drawing order.
func (w Window) drawn() (out []int) {
	for i, v := range w.Views {
		if v.Visible && v.Draws && !v.Clipped.Empty() {
			out = append(out, i)
		}
	}
	return out
}

// mostPieces limits the pieces into which later views cut a view: a view in more pieces is taken to
// be visible.
const mostPieces = 64

// covered reports whether later views that are assumed to be opaque cover v completely, and returns
// the class of the view that covers most of it.
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

// without returns r minus o, as at most four pieces.
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

// seeThrough ends the names of classes that draw but are mostly transparent: text, icons and bars.
var seeThrough = []string{
	"TextView", "EditText", "Chronometer", "TextClock", "CheckBox", "RadioButton", "Switch", "SwitchCompat", "ToggleButton",
	"ProgressBar", "ProgressIndicator", "SeekBar", "RatingBar", "Slider", "ImageButton", "Space", "ViewStub", "Guideline", "Barrier", "AbsSeekBar",
}

// opaque reports whether views of a class are assumed to be opaque: all are but those that are
// mostly transparent.
func opaque(class string) bool {
	class = class[strings.LastIndexAny(class, ".$")+1:]
	return !slices.ContainsFunc(seeThrough, func(c string) bool { return strings.HasSuffix(class, c) })
}

// Assumptions is the caveat about the views that Count reports as hidden.
const Assumptions = "dumps do not report whether a view is opaque: all that draw themselves are assumed to be except text, icons and bars, and the backgrounds of layouts, elevation and translation are unknown"
