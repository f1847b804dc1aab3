package figure

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/run"
)

func TestTicksAreRound(t *testing.T) {
	for _, tc := range []struct {
		low, high float64
		n         int
		want      []float64
	}{
		{0, 100, 5, []float64{0, 20, 40, 60, 80, 100}},
		{264, 466, 4, []float64{300, 350, 400, 450}},
		{-3, 3, 6, []float64{-3, -2, -1, 0, 1, 2, 3}},
		{0.901, 0.949, 3, []float64{0.91, 0.92, 0.93, 0.94}},
	} {
		got := scale{low: tc.low, high: tc.high}.ticks(tc.n)
		if !slices.EqualFunc(got, tc.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("ticks from %g to %g, about %d: %v, want %v", tc.low, tc.high, tc.n, got, tc.want)
		}
	}
	logarithmic := scale{low: 5, high: 300, log: true}
	if got, want := logarithmic.ticks(8), []float64{5, 10, 20, 50, 100, 200}; !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("ticks of a logarithmic axis: %v, want %v", got, want)
	}
}

func TestScale(t *testing.T) {
	s := newScale(10, 1000, 0, 100, true)
	if !s.log {
		t.Fatal("a range of 100 times was not drawn on a logarithmic axis")
	}
	if middle := s.at(100); math.Abs(middle-50) > 0.01 {
		t.Errorf("100 stands at %g, want half way between 10 and 1000", middle)
	}
	if newScale(10, 20, 0, 100, true).log || newScale(0, 1000, 0, 100, true).log || newScale(10, 1000, 0, 100, false).log {
		t.Error("a logarithmic axis where the range is small, holds zero, or none was asked for")
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -5} {
		if at := s.at(v); math.IsNaN(at) || at < 0 || at > 100 {
			t.Errorf("%g stands at %g, outside the picture", v, at)
		}
	}
	for _, ends := range [][2]float64{{5, 5}, {0, 0}, {-math.MaxFloat64, math.MaxFloat64}, {math.Inf(-1), math.NaN()}} {
		s := newScale(ends[0], ends[1], 0, 100, false)
		if !(s.low < s.high) || len(s.ticks(5)) > 20 {
			t.Errorf("the scale of %v is %v with %d ticks", ends, s, len(s.ticks(5)))
		}
	}
	if t0 := newScale(0, 0, 0, 100, false).ticks(5); len(t0) == 0 || t0[0] != 0 || t0[len(t0)-1] < 0.5 {
		t.Errorf("of nothing but zeros the ticks are %v, want those from 0 to 1", t0)
	}
}

var numbers = regexp.MustCompile(`M([\d.-]+) [\d.-]+V([\d.-]+)`)

// Thinning may drop short frames, never a long one.
func TestFramesKeepMaxima(t *testing.T) {
	it := run.Iteration{Events: []run.Bucket{{Name: run.Start}}}
	for i := range 50_000 {
		ms := 8.0
		if i == 31_234 {
			ms = 60
		}
		it.Frames = append(it.Frames, run.Frame{DurationMS: ms})
	}
	fig, ok := NewFrames("phone", run.Run{Iterations: []run.Iteration{it}}, nil)
	if !ok {
		t.Fatal("no figure")
	}
	svg := fig.Draw("x", "wide", 360)
	if n := len(numbers.FindAllString(svg, -1)); n > 360 {
		t.Errorf("%d bars in a picture of 360 pixels", n)
	}
	late := regexp.MustCompile(`class="bar late" d="([^"]*)"`).FindStringSubmatch(svg)
	if late == nil {
		t.Fatal("the one long frame among 50,000 is lost")
	}
	x, _ := strconv.ParseFloat(numbers.FindStringSubmatch(late[1])[1], 64)
	if want := framesLeft + (360-framesLeft-framesRight)*31_234/50_000; math.Abs(x-want) > 2 {
		t.Errorf("the long frame stands at %g px, want %g", x, want)
	}
}

func TestHistoryPlacesBoxAndMarks(t *testing.T) {
	// Forty values spread evenly from 80 to 120.
	box40 := Box{N: 40, Q1: 90, Q3: 110, Expected: 100, Lower: 60, Upper: 140, Marks: []Mark{{"R1", 50, document.Worse}}}
	for i := range 40 {
		box40.Sample = append(box40.Sample, 80+40*float64(i)/39)
	}
	f := History{Title: "E1: frames rendered", Metric: metric.Metric{Name: "frames.count", Unit: "frames", Title: "frames rendered"}, Boxes: []Box{box40}}
	svg := f.Draw("x", "wide", 500)
	x := newScale(50, 120, sideRoom, 500-sideRoom, false)
	box := fmt.Sprintf(`class="box" x="%s"`, px(x.at(90)))
	mark := fmt.Sprintf(`class="mark worse" d="M%s `, px(x.at(50)))
	for _, want := range []string{box, mark, "R1: 50", "history: 40 values", "middle half 90 to 110, expected 100"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %q:\n%s", want, svg)
		}
	}
}

// A frame of 10 ms takes longer than one refresh of a screen of 120 Hz, and not of one of 60.
func TestFramesUseRefreshRate(t *testing.T) {
	it := run.Iteration{Frames: []run.Frame{{DurationMS: 7}, {DurationMS: 10}, {DurationMS: 12}, {DurationMS: 20}}}
	for hz, want := range map[string]string{
		"":     "1 longer than 16.67 ms",
		"60":   "1 longer than 16.67 ms",
		"90":   "2 longer than 11.11 ms",
		"120":  "3 longer than 8.33 ms",
		"NaN":  "1 longer than 16.67 ms",
		"0":    "1 longer than 16.67 ms",
		"fast": "1 longer than 16.67 ms",
	} {
		fig, _ := NewFrames("phone", run.Run{Context: map[string]string{"refresh_hz": hz}, Iterations: []run.Iteration{it}}, nil)
		_, limit, _ := strings.Cut(want, "longer than ")
		if svg := fig.Draw("f", "picture", 600); !strings.Contains(fig.Description(), want) || !strings.Contains(svg, ">"+limit+"<") {
			t.Errorf("%q Hz: %s, want %q and the line at it", hz, fig.Description(), want)
		}
	}
}
