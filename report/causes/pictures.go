package causes

import (
	"strconv"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

// figures returns figures with names of their own within a page.
func figures(drawn []drawing, id string) []document.Figure {
	var out []document.Figure
	n := map[diagnose.PictureKind]int{}
	for _, d := range drawn {
		f := d.Figure
		f.ID = id + letters[d.kind]
		if n[d.kind]++; n[d.kind] > 1 {
			f.ID += strconv.Itoa(n[d.kind])
		}
		out = append(out, f)
	}
	return out
}

// Figures returns figures without a cause, drawn like those of causes; id is the prefix of their
// names within a page.
func Figures(pictures []diagnose.Picture, id string) []document.Figure {
	drawn := drawable(pictures)
	return figures(drawn[:min(len(drawn), mostPictures)], id)
}

// drawing is a figure that can be drawn.
type drawing struct {
	document.Figure
	kind diagnose.PictureKind
}

// drawable returns the figures that can be drawn. An unknown kind is left out, and so is an empty
// figure.
func drawable(pictures []diagnose.Picture) []drawing {
	var out []drawing
	for _, p := range pictures {
		if f, ok := figureOf(p); ok {
			out = append(out, drawing{f, p.Kind})
		}
	}
	return out
}

// mostPictures limits those of one explanation.
const mostPictures = 8

// letters distinguish kinds of figures of one run in a page.
var letters = map[diagnose.PictureKind]string{diagnose.BarsPicture: "b", diagnose.FlamePicture: "f", diagnose.ThreadsPicture: "t", diagnose.WaitsPicture: "w", diagnose.DelaysPicture: "d"}

func figureOf(p diagnose.Picture) (document.Figure, bool) {
	out := document.Figure{Caption: wording.Name(p.Title)}
	of := figure.Measure{Label: p.Label}
	switch {
	case p.Kind == diagnose.BarsPicture && p.Bars != nil:
		of.Unit, of.Of = p.Bars.Unit, p.Bars.Axis
		bars, ok := figure.NewBars(barsOf(*p.Bars), p.Bars.Beside, of)
		out.Detail, out.Picture = bars.Note(), bars
		return out, ok
	case p.Kind == diagnose.FlamePicture && p.Flame != nil:
		of.Unit, of.Of = p.Flame.Unit, p.Flame.Of
		flame, ok := figure.NewFlame(callsOf(*p.Flame), p.Flame.Beside, of)
		out.Detail, out.Picture = flame.Note(figure.Wide), flame
		return out, ok
	case p.Kind == diagnose.ThreadsPicture && p.Threads != nil:
		threads, ok := figure.NewThreads(p.Label, framesOf(*p.Threads))
		out.Detail, out.Picture = threads.Note(), threads
		return out, ok
	case p.Kind == diagnose.WaitsPicture && p.Waits != nil:
		waits, ok := figure.NewWaits(p.Label, waitingOf(*p.Waits))
		out.Detail, out.Picture = waits.Note(), waits
		return out, ok
	case p.Kind == diagnose.DelaysPicture && p.Delays != nil:
		delays, ok := figure.NewDelays(p.Label, p.Delays.Of, p.Delays.OverMS, delaysOf(*p.Delays))
		out.Detail, out.Picture = delays.Note(), delays
		return out, ok
	}
	return document.Figure{}, false
}

func barsOf(b diagnose.Bars) []figure.Bar {
	span := func(m diagnose.Measured) figure.Span { return figure.Span{Value: m.Value, Low: m.Low, High: m.High} }
	out := make([]figure.Bar, len(b.List))
	for i, bar := range b.List {
		out[i] = figure.Bar{Name: bar.Name, Base: span(bar.Base), Head: span(bar.Head), Tone: ToneOf(bar.Direction), Status: bar.Status}
	}
	return out
}

func delaysOf(d diagnose.Delays) []figure.Delay {
	out := make([]figure.Delay, len(d.List))
	for i, one := range d.List {
		out[i] = figure.Delay{Name: one.Name, Tone: ToneOf(one.Direction), Base: figure.Delayed{Tasks: one.Base.Count, MS: one.Base.QuantilesMS}, Head: figure.Delayed{Tasks: one.Head.Count, MS: one.Head.QuantilesMS}}
	}
	return out
}

func callsOf(f diagnose.Flame) []figure.Call {
	out := make([]figure.Call, len(f.Calls))
	for i, c := range f.Calls {
		out[i] = figure.Call{Parent: c.Parent, Name: c.Name, Kind: c.Kind, Base: c.Base, Head: c.Head}
	}
	return out
}

// roles are the titles of drawn frames.
var roles = map[diagnose.Role]string{
	diagnose.Late: "Late frame", diagnose.Usual: "Usual frame", diagnose.Base: "Usual frame before",
	diagnose.Waited: "Longest wait", diagnose.WaitedBefore: "Longest wait before",
}

func framesOf(t diagnose.Threads) []figure.ThreadsFrame {
	out := make([]figure.ThreadsFrame, len(t.Frames))
	for i, f := range t.Frames {
		out[i] = figure.ThreadsFrame{Title: roles[f.Role], TookMS: f.TookMS, DeadlineMS: f.DeadlineMS, Late: f.Role == diagnose.Late || f.Role == diagnose.Waited}
		out[i].Queue = f.Role == diagnose.Waited || f.Role == diagnose.WaitedBefore
		if f.Repetition > 0 {
			out[i].Detail = "repetition " + strconv.Itoa(f.Repetition)
		}
		for _, s := range f.Steps {
			out[i].Steps = append(out[i].Steps, figure.Step(s))
		}
	}
	return out
}

func waitingOf(w diagnose.Waits) []figure.Waiting {
	out := make([]figure.Waiting, len(w.Threads))
	for i, t := range w.Threads {
		out[i] = figure.Waiting(t)
	}
	return out
}
