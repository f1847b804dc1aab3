package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
)

// minPicture is the least width in pixels that a picture is legible at.
const minPicture = 240

// FramesSVG writes the frames of one checked run as an SVG file of its own,
// width pixels wide (paper, Figure 3). The run must be among in.Runs and have
// kept its frames.
func FramesSVG(w io.Writer, in Input, runID string, width int) error {
	for _, r := range in.Runs {
		if r.ID != runID {
			continue
		}
		v := gate.RunVerdict{ID: r.ID, Context: r.Context}
		if i := slices.IndexFunc(in.Verdict.Runs, func(v gate.RunVerdict) bool { return v.ID == runID }); i >= 0 {
			v = in.Verdict.Runs[i]
		}
		fig, ok := newFramesFigure(device(v), r, flaggedEvents(v))
		if !ok {
			return fmt.Errorf("draw the frames of run %s: it kept no frames", name(runID))
		}
		return standalone(w, fig.draw, width)
	}
	return fmt.Errorf("draw the frames of run %s: no such run is given", name(runID))
}

// HistorySVG writes the history of one deviation with the new runs beside it as
// an SVG file of its own, width pixels wide (paper, Figure 8). event is "" for
// the whole run.
func HistorySVG(w io.Writer, in Input, event, metricName string, width int) error {
	for _, f := range flat(findings(in.Verdict, in.catalogue())) {
		if f.Event == event && f.MetricName == metricName {
			return standalone(w, newHistoryFigure(f).draw, width)
		}
	}
	return fmt.Errorf("draw the history of %s (%s): the verdict has no such deviation", name(metricName), eventTitle(event))
}

// RulesSVG writes the graph of the verdict's rules as an SVG file of its own, at
// most width pixels wide (paper, Figure 9).
func RulesSVG(w io.Writer, in Input, width int) error {
	if len(in.Verdict.Rules) == 0 {
		return fmt.Errorf("draw the rules: the verdict has none")
	}
	return standalone(w, newRulesFigure(patterns(in.Verdict.Rules)).draw, width)
}

// standalone gives a picture the style and the ground that the page gives it otherwise.
func standalone(w io.Writer, draw func(id, class string, width float64) string, width int) error {
	if width < minPicture {
		return fmt.Errorf("draw a picture of %d pixels: want %d or more", width, minPicture)
	}
	const ground = `<rect class="ground" width="100%" height="100%"/>`
	svg := strings.Replace(draw("p", "alone", float64(width)), "</desc>", "</desc><style>"+coloursCSS+pictureCSS+"</style>"+ground, 1)
	if _, err := io.WriteString(w, svg+"\n"); err != nil {
		return fmt.Errorf("write a picture: %w", err)
	}
	return nil
}
