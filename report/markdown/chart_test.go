package markdown

import (
	"math"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/document"
)

// A chart has the base as bars and the head as a line from zero on, and its title keeps nothing that
// the language could take for its own.
func TestChart(t *testing.T) {
	blocks := chart(&document.Chart{Title: "tap \"x\"]\n%%{init}%% `a`: ms on A (B)", Unit: "ms", Base: []float64{5, 10.25}, Head: []float64{12, 0.00123}})
	if len(blocks) != 1 {
		t.Fatalf("%d blocks, want one", len(blocks))
	}
	got := blocks[0].head
	for _, want := range []string{
		"```mermaid\n%%{init: {\"xyChart\": {\"height\": 260, \"titleFontSize\": 14}}}%%\nxychart-beta\n",
		"  title \"tap x init a: ms on A (B)\"\n  x-axis \"round\" 1 --> 2\n  y-axis \"ms\" 0.000 --> 12.60\n",
		"  bar [5.000, 10.25]\n  line [12.00, 0.001230]\n```\n",
		"Bars: the base build. Line: this build.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the chart lacks %q:\n%s", want, got)
		}
	}
	for name, c := range map[string]document.Chart{
		"one round":   {Base: []float64{1}, Head: []float64{2}},
		"no number":   {Base: []float64{1, math.NaN()}, Head: []float64{2, 3}},
		"one is more": {Base: []float64{1, 2}, Head: []float64{2}},
	} {
		if got := chart(&c); got != nil {
			t.Errorf("%s is drawn: %q", name, got[0].head)
		}
	}
}
