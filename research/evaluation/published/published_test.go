package published

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/research/evaluation/series"
)

// What the projects say of their measurements: how many workloads, phones, sessions and
// repetitions there are.
func TestWhatOthersPublishedIsAllThere(t *testing.T) {
	corpus := filepath.Dir(corpustest.Path(t, "dataset"))
	monsoon, batterystats, err := Energy(corpus)
	if errors.Is(err, ErrNoXZ) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	macro, err := Benchmarks(corpus)
	if err != nil {
		t.Fatal(err)
	}
	pushes, err := Pushes(corpus)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                    string
		all                     []series.Series
		series, values, session int
		devices                 int
	}{
		{"monsoon", monsoon, 27, 30, 10, 1}, {"batterystats", batterystats, 54, 30, 1, 2}, {"macro", macro, 33, 50, 1, 1},
	} {
		devices := map[string]bool{}
		for _, s := range c.all {
			devices[s.Device] = true
			if len(s.Values) != c.values || len(s.Sessions()) != c.session || !s.Positive() {
				t.Errorf("%s, %s: %d values in %d sessions", c.name, s.Name, len(s.Values), len(s.Sessions()))
			}
		}
		if len(c.all) != c.series || len(devices) != c.devices {
			t.Errorf("%s: %d series of %d devices, want %d of %d", c.name, len(c.all), len(devices), c.series, c.devices)
		}
		if err := series.Check(c.all); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for i, want := range []int{128, 150, 948, 5133} { // points, as mozilla/treeherder has them
		if got := len(pushes[i].Values); got != want {
			t.Errorf("%s: %d points, want %d", pushes[i].Name, got, want)
		}
	}
	for _, s := range Quiet(monsoon) {
		if s.CV() >= 0.06 {
			t.Errorf("%s varies by %v and is called quiet", s.Name, s.CV())
		}
	}
	if n := len(Quiet(monsoon)); n != 1 { // the display's alone: see its sessions
		t.Errorf("%d of the metered series are quiet, want one", n)
	}
}

// The first metered value of the first session in the archive, read by eye.
func TestAMeteredValue(t *testing.T) {
	corpus := filepath.Dir(corpustest.Path(t, "dataset"))
	monsoon, _, err := Energy(corpus)
	if errors.Is(err, ErrNoXZ) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range monsoon {
		if s.Name == "apps-bachelorproject-replication-apps-display-e-www-displaytest-apk" {
			first := s.Sessions()[0]
			if first.Name != "2020.06.29_005058" || math.Abs(first.Values[0]-139.7552680610268) > 1e-9 || len(first.Values) != 3 {
				t.Errorf("the first session is %+v", first)
			}
		}
	}
}
