package figure

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
)

func points(values ...float64) (out []CoursePoint) {
	for i, v := range values {
		out = append(out, CoursePoint{i, v})
	}
	return out
}

// Eight heights from the lowest value to the highest; noise of less than a tenth stays in the
// middle; of more nights than columns, each column is the median of several.
func TestSpark(t *testing.T) {
	for want, values := range map[string][]float64{
		"":         nil,
		"▁▂▃▄▅▆▇█": {10, 11, 12, 13, 14, 15, 16, 18},
		"▄▅▄":      {10, 10.1, 10},
		"▁▁▁▁▁██":  {1, 1, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 5, 5, 5, 5, 5},
		"▁▁▁▁▁▁▁█": {0, 0, 0, 0, 0, 0, 0, 1},
		"▁█▁█▁█":   {1, 1e308, 1, 1e308, 1, 1e308},
		"▅▅▅":      {3, 3, 3},
	} {
		width := 8
		if len(values) > 20 {
			width = 7
		}
		if got := (CourseRow{Points: points(values...)}).Spark(width); got != want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
}

// The figure is described with its levels and dates, names in it are text, and a thousand nights
// are no more dots than fit.
func TestCourse(t *testing.T) {
	m, _ := metric.Default().Lookup("frames.duration_ms")
	f := Course{Title: "<b>time</b>", Metric: m, Rows: []CourseRow{{Label: "<i>phone</i>", Levels: []CourseLevel{{0, 499, 8, 8}, {500, 999, 10, 11}}, Steps: []CourseStep{{At: 500, Tone: document.Worse, Text: "+25 %", Accepted: true}}}}}
	for i := range 1000 {
		f.Nights = append(f.Nights, time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC))
		f.Rows[0].Points = append(f.Rows[0].Points, CoursePoint{i, 8 + float64(i%3)})
	}
	want := "<i>phone</i>: 1000 nights; 8.00 ms from 1 Jan 2026 on, then 10.00 ms drifting to 11.00 ms from 16 May 2027 on."
	if got := strings.ReplaceAll(f.Description(), "\u00a0", " "); got != want {
		t.Errorf("it is described as\n%s, want\n%s", got, want)
	}
	for _, width := range []float64{Wide, Narrow} {
		svg := f.Draw("id", "x", width)
		if strings.Contains(svg, "<b>") || strings.Contains(svg, "<i>") || !strings.Contains(svg, "▲ +25 % ✓") {
			t.Errorf("%g px: a name is no text, or the step has none:\n%.600s", width, svg)
		}
		if dots := strings.Count(svg, "h0"); dots > int(width/perPoint) || dots < 100 {
			t.Errorf("%g px: %d dots", width, dots)
		}
	}
}
