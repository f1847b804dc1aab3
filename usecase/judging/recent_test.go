package judging_test

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/html"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/judging"
)

// The page of a run that is worse shows the number that got worst after the last 30 of the 40
// accepted runs of its device, oldest first, and none of another device; that of a pass shows
// nothing.
func TestRecentRunsOfTheWorstNumber(t *testing.T) {
	at := func(i int, ms float64) run.Run {
		r := clitest.PhoneRun(i, 1, 0)
		for n := range r.Iterations {
			r.Iterations[n].Metrics = map[string]float64{"frames.duration_ms": ms}
		}
		return r
	}
	var history []run.Run
	for i := range 40 {
		history = append(history, at(i, 8+float64(i%5)/50))
	}
	for i := range 6 {
		other := at(50+i, 99)
		other.ID, other.Context = "other"+other.ID, map[string]string{"model": "another"}
		history = append(history, other)
	}
	for name, c := range map[string]struct {
		ms    float64
		drawn bool
	}{"worse": {20, true}, "the same": {8.04, false}} {
		in, err := judging.Judge([]run.Run{at(60, c.ms)}, pastOf(t, history), defaultSettings())
		if err != nil {
			t.Fatal(err)
		}
		var page strings.Builder
		if err := html.Render(&page, layout.Verdict(in), document.Options{}); err != nil {
			t.Fatal(err)
		}
		if drawn := strings.Contains(page.String(), "The last 30 accepted runs of this device"); drawn != c.drawn {
			t.Errorf("%s (%s): drawn %v, want %v", name, in.Verdict.Verdict, drawn, c.drawn)
		}
		if !c.drawn {
			continue
		}
		if in.Recent.Cell.Metric != "frames.duration_ms" || len(in.Recent.Accepted) != 30 {
			t.Fatalf("%+v", in.Recent)
		}
		for k, r := range in.Recent.Accepted {
			if want := history[10+k]; !r.Started.Equal(want.Started) || r.Value != want.Iterations[0].Metrics["frames.duration_ms"] {
				t.Errorf("place %d: %+v, want that of run %s", k, r, want.ID)
			}
		}
	}
}
