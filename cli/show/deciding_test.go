package show

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// An event decides if it does in most checks, and it is listed with the median of what would have
// shown: 20 % of 10, 20 and 30. If more is better, a worsening is less. What decides nowhere is in
// no row, and unasked questions are not counted.
func TestShowDeciding(t *testing.T) {
	asked := func(event, name string, shown bool, detectable float64) gate.Comparison {
		c := gate.Comparison{Event: event, Metric: name, N: 9, Shown: shown, Detectable: detectable, Screen: gate.Cleared}
		if shown {
			c.Screen = ""
		}
		return c
	}
	l := newLoudness(settings.Settings{})
	for i, at := range []float64{0.1, 0.2, 0.3} {
		v := gate.Verdict{Runs: []gate.RunVerdict{{Scenario: "inbox", Comparisons: []gate.Comparison{
			asked("", "frames.duration_ms", false, 0.14),
			asked("tap", "frames.duration_ms", i == 0, at),
			asked("swipe", "frames.duration_ms", i > 0, at),
			asked("", "frames.smooth_ratio", false, 0.03),
			asked("", "cpu.time_ms", true, 0.1),
			asked("", "anr.count", false, 0),
			{Metric: "startup.ttid_ms", N: 9},
		}}}}
		l.add(v, v)
	}
	a := AppNoise{Metrics: l.sorted(), catalogue: metric.Default()}
	for _, m := range a.Metrics {
		want := map[string]int{"": 3, "tap": 2, "swipe": 1}[m.Event]
		if m.Metric == "cpu.time_ms" {
			want = 0
		}
		if m.Comparisons != 3 || m.Decides != want || m.Cleared != want || m.Open != 0 || m.Advice != "" || m.Metric == "startup.ttid_ms" {
			t.Errorf("%+v, want a say in %d of 3", m, want)
		}
	}
	var out strings.Builder
	if err := a.showDeciding(terminal.Console{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	var narrow strings.Builder
	if err := a.showDeciding(terminal.Console{Stdout: &narrow, Width: 60}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(narrow.String()) {
		if n := len([]rune(strings.TrimSpace(line))); n > 60 {
			t.Errorf("%d columns on a terminal of 60: %s", n, line)
		}
	}
	table := strings.Join(strings.Fields(out.String()), " ")
	for _, row := range []string{
		"inbox smooth ratio −3 % – –",
		"inbox time per frame +14 % tap +20 % swipe",
		"A UI event without a say fails a run only beyond doubt",
	} {
		if !strings.Contains(table, row) {
			t.Errorf("%s\nwant %q", out.String(), row)
		}
	}
	for _, none := range []string{"cpu.time_ms", "anr.count", "more of them"} {
		if strings.Contains(table, none) {
			t.Errorf("%s\nwant no %q", out.String(), none)
		}
	}
}

// Long lists are cut, with the number of the rest.
func TestFew(t *testing.T) {
	name := func(m Loudness) string { return m.Event }
	all := []Loudness{{Event: "a"}, {Event: "b"}, {Event: "c"}, {Event: "d"}, {Event: "e"}, {Event: "f"}, {Event: "g"}, {Event: "h"}}
	for n, want := range map[int]string{0: "–", 1: "a", 6: "a, b, c, d, e, f", 8: "a, b, c, d, e, f, 2 more"} {
		if got := few(all[:n], name); got != want {
			t.Errorf("of %d: %q, want %q", n, got, want)
		}
	}
}
