package figure

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// filtering is like Figure 11 of DiagDroid: 21 tasks before the fix, 5 after it, and one group that
// was not there before.
var filtering = []Delay{
	{
		Name: "performFiltering", Tone: "better", Head: Delayed{5, []float64{0, 1, 2, 3, 31}},
		Base: Delayed{21, []float64{0, 0, 10, 120, 300, 410, 520, 640, 700, 760, 810, 905, 1003, 1210, 1400, 1502, 1600, 1790, 2040, 2500, 3120}},
	},
	{Name: "sync", Head: Delayed{1, []float64{12_345}}},
}

var drawnRect = regexp.MustCompile(`<rect class="([a-z ]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"`)

// A page of 912 px has room for 36 bars of 24 px. So a bar is 100 ms wide where the longest delay is
// 3120 ms, and the last one ends at 3200.
func TestDelaysDraw(t *testing.T) {
	t.Parallel()
	f, ok := NewDelays("delays", "queuing time", 500, filtering[:1])
	if !ok {
		t.Fatal("no figure")
	}
	svg := f.Draw("d", "wide", Wide)
	var base, head [][]string
	for _, m := range drawnRect.FindAllStringSubmatch(svg, -1) {
		if m[1] == "box" {
			base = append(base, m[2:])
		} else if m[1] == "energy better" {
			head = append(head, m[2:])
		}
	}
	// 0 to 10 (3 tasks), 120, 300, 410, 520, 640, 700 and 760, 810, 905, 1003, 1210, 1400, 1502, 1600,
	// 1790, 2040, 2500, 3120: 40 px for three tasks, 13.3 for one, 26.7 for two. A step is 27.6 px.
	if len(base) != 18 || base[0][3] != "40" || base[1][3] != "13.3" || base[6][3] != "26.7" || base[17][0] != "870.9" || base[1][2] != "26.6" {
		t.Errorf("bars before: %v", base)
	}
	if len(head) != 1 || head[0][0] != "14.5" || head[0][3] != "40" {
		t.Errorf("bars now: %v", head)
	}
	for _, want := range []string{`<path class="limit" d="M152.1 18L152.1 142"/>`, ">queuing time (ms)<", ">500<", ">performFiltering<", ">before: 21 tasks, half in 810 ms, all in 3120 ms<", ">now: 5 tasks, half in 2 ms, all in 31 ms<"} {
		if !strings.Contains(strings.ReplaceAll(svg, "\u00a0", " "), want) {
			t.Errorf("the picture lacks %q:\n%s", want, svg)
		}
	}
	if strings.Index(svg, `class="limit"`) > strings.Index(svg, "before: ") {
		t.Error("the line of the limit covers the text")
	}
	if narrow := f.Draw("d", "narrow", Narrow); strings.Contains(narrow, "…") {
		t.Errorf("a text is cut in a narrow picture:\n%s", narrow)
	}
}

func TestDelaysText(t *testing.T) {
	t.Parallel()
	f, _ := NewDelays("delays", "queuing time", 500, filtering)
	want := []string{"performFiltering", "  before: 21 tasks, half in 810 ms, all in 3120 ms", "  now: 5 tasks, half in 2 ms, all in 31 ms", "sync", "  now: 1 task, 12.3 s"}
	lines := f.Text(80)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\u00a0", " ")
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	if got := f.Text(12)[1]; got != "  before: 2…" {
		t.Errorf("in 12 columns %q", got)
	}
	if note := f.Note(); !strings.Contains(note, "dashed line is at 500") {
		t.Error(note)
	}
	open, _ := NewDelays("delays", "queuing time", 0, filtering)
	if note := open.Note(); strings.Contains(note, "dashed") || strings.Contains(open.Draw("d", "wide", Wide), "limit") {
		t.Errorf("without a limit: %s", note)
	}
}

func TestDelaysWithoutTasks(t *testing.T) {
	t.Parallel()
	if _, ok := NewDelays("", "", 500, []Delay{{Name: "a"}, {Base: Delayed{3, []float64{math.NaN()}}}}); ok {
		t.Error("nothing is drawn")
	}
	f, _ := NewDelays("", "", 500, slices.Repeat(filtering, 3))
	if len(f.list) != 4 {
		t.Errorf("%d groups", len(f.list))
	}
}
