package metric

import (
	"math"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		name  string
		value float64
		want  string
	}{
		{"frames.duration_ms", 16.666, "16.67 ms"},
		{"frames.smooth_ratio", 0.954, "95.4 %"},
		{"frames.count", 148, "148"},
		{"frames.count", 148.5, "148.5"},
		{"work.inflations", 30.000000000000004, "30"}, // the result of exp(log(30))
		{"energy.total_j", 12.3456, "12.35 J"},
		{"frames.count", math.NaN(), "–"},
	} {
		m, ok := Default().Lookup(c.name)
		if got := m.Format(c.value); !ok || got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

func TestCatalogueIsConsistent(t *testing.T) {
	c := Default()
	for _, m := range c.All() {
		if !ValidName(m.Name) || m.Title == "" || (m.Direction == Neutral) != m.Signed || (m.Restless <= 0) != m.Exact {
			t.Errorf("%+v: want a valid name, a title, a direction (but where values may be below zero) and a least spread (but where nothing is measured)", m)
		}
		if of, ok := c.Lookup(m.Of); m.Of != "" && (!ok || of.Of != "") {
			t.Errorf("%s details %q, want a summary metric", m.Name, m.Of)
		}
		if m.Mean && m.Log {
			t.Errorf("%s is judged as a count of rare events and by its logarithm: want one of both", m.Name)
		}
	}
}

func TestCatalogueWith(t *testing.T) {
	c, err := Default().With(Metric{Name: "search.ms", Unit: "ms", Direction: LowerIsBetter})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Lookup("search.ms"); !ok {
		t.Error("a declared metric is not found")
	}
	if _, ok := Default().Lookup("search.ms"); ok {
		t.Error("declaring a metric changed the built-in catalogue")
	}
	if c.Compare("frames.count", "search.ms") >= 0 || c.Compare("search.ms", "a.unknown") >= 0 {
		t.Error("want the catalogue's metrics first, then declared ones, then unknown ones")
	}
	for _, bad := range []string{"", "1st", "a b", "a\nb", "ü"} {
		if _, err := Default().With(Metric{Name: bad}); err == nil {
			t.Errorf("the name %q was taken", bad)
		}
	}
}

func TestDirections(t *testing.T) {
	for _, name := range Directions() {
		if d, err := ParseDirection(name); err != nil || d.String() != name {
			t.Errorf("%q is read as %v, %v", name, d, err)
		}
	}
	if _, err := ParseDirection("up"); err == nil {
		t.Error(`"up" was taken for a direction`)
	}
}

// Joules of one source are not comparable with another's; times are.
func TestComparable(t *testing.T) {
	joules, _ := Default().Lookup("energy.total_j")
	ms, _ := Default().Lookup("cpu.time_ms")
	rails, battery, silent := map[string]string{EnergyFrom: "rails"}, map[string]string{EnergyFrom: "battery"}, map[string]string{}
	if joules.Way(rails) != "rails" || joules.Way(silent) != "" || ms.Way(rails) != "" {
		t.Errorf("joules came from %q and %q, times from %q", joules.Way(rails), joules.Way(silent), ms.Way(rails))
	}
	if joules.Comparable(rails, battery) || joules.Comparable(rails, silent) || !joules.Comparable(silent, silent) || !ms.Comparable(rails, battery) {
		t.Error("want joules of two sources apart, and times of both together")
	}
	frames, _ := Default().Lookup("frames.smooth_ratio")
	timeline, dumps := map[string]string{FramesBy: "timeline"}, map[string]string{FramesBy: "gfxinfo"}
	if frames.Comparable(timeline, dumps) || frames.Comparable(timeline, silent) || !frames.Comparable(dumps, silent) || !ms.Comparable(timeline, dumps) {
		t.Error("want frames of the timeline apart from those of dumps, which were all that there was")
	}
}
