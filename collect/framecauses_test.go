package collect_test

import (
	"slices"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// The views of each UI event are read in the warm-up, and invisible ones are listed; in a measured
// repetition they are not queried.
func TestViewsAreReadInTheWarmUp(t *testing.T) {
	t.Parallel()
	_, job, folder, spy := watched(t, "pixel-7-android-14", config.KeepWorst, simulator.Options{})
	appendTo(t, job.App.APK, "\nlayers android.widget.FrameLayout id root\nlayers android.widget.ImageView id under in root\nlayers android.widget.ImageView id over in root\n")
	job.Scenario.Repetitions = 1
	r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
	wantComplete(t, r, 1)
	if r.Run.Frames == nil || len(r.Run.Frames.Views) == 0 {
		t.Fatalf("no views: %v", r.Run.Warnings)
	}
	for _, v := range r.Run.Frames.Views {
		under := slices.IndexFunc(v.Hidden, func(h run.HiddenView) bool { return h.ID == "under" || h.ID == "id/under" || h.ID == "app:id/under" })
		if under < 0 || v.Count < 3 || v.Overdraw <= 1 {
			t.Errorf("%+v", v)
		}
	}
	if !warnedOf(r.Run, "do not report whether a view is opaque") {
		t.Errorf("%v", r.Run.Warnings)
	}
	_, job, folder, quiet := watched(t, "pixel-7-android-14", config.KeepWorst, simulator.Options{})
	job.Scenario.WarmUp, job.Scenario.Repetitions = 0, 1
	collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
	if asked := quiet.ran("activity top"); len(asked) > 0 || len(spy.ran("activity top")) == 0 {
		t.Errorf("without a warm-up the views were asked for: %q", asked)
	}
}
