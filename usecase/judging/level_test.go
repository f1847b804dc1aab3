package judging_test

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/usecase/judging"
)

// After twelve accepted runs, and eight that take two thirds as long, the check of a build reports
// that it is compared with the eight, since when, of which commit, and with which note the first of
// them was accepted.
func TestLevelIsReported(t *testing.T) {
	history := clitest.PhoneRuns(20, 1, 0)
	for i := range history {
		level := 8.0
		if i >= 12 {
			level = 5
		}
		for n := range history[i].Iterations {
			history[i].Iterations[n].Metrics = map[string]float64{"frames.duration_ms": level + float64(i%5)/50}
		}
	}
	history[12].Source.Commit = strings.Repeat("c", 40)
	store := memory.New(nil)
	ids, err := store.Add(t.Context(), history...)
	if err == nil {
		err = store.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted, Note: "decode \x1b[31mimages once"})
	}
	if err != nil {
		t.Fatal(err)
	}
	now := clitest.PhoneRun(30, 1, 0)
	for n := range now.Iterations {
		now.Iterations[n].Metrics = map[string]float64{"frames.duration_ms": 5}
	}
	set := defaultSettings()
	in, err := judging.Judge([]run.Run{now}, judging.OfStore(t.Context(), runstore.SoundOf(store), set, judging.Lineage{}), set)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, w := range in.Verdict.Runs[0].Warnings {
		if strings.Contains(w.Text, "level") {
			said = append(said, w.Text)
		}
	}
	want := "time per frame: the level changed with run run12 (1 January 2026, commit cccccccccc, accepted: decode \uFFFD[31mimages once); only runs since then are compared with"
	if len(said) != 1 || said[0] != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// If only an event's level changed, the event is named: the whole run is compared with all that was
// accepted.
func TestLevelOfAnEventIsReported(t *testing.T) {
	history := clitest.PhoneRuns(20, 1, 0)
	put := func(r run.Run, i int, event float64) {
		for n := range r.Iterations {
			r.Iterations[n].Metrics = map[string]float64{"frames.duration_ms": 8 + float64(i%5)/50}
			r.Iterations[n].Events = []run.Bucket{{Name: "back", Metrics: map[string]float64{"frames.duration_ms": event + float64(i%5)/50, "frames.count": 60}}}
		}
	}
	for i := range history {
		event := 8.0
		if i >= 12 {
			event = 5
		}
		put(history[i], i, event)
	}
	store := memory.New(nil)
	ids, err := store.Add(t.Context(), history...)
	if err == nil {
		err = store.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted})
	}
	if err != nil {
		t.Fatal(err)
	}
	now := clitest.PhoneRun(30, 1, 0)
	put(now, 0, 5)
	set := defaultSettings()
	in, err := judging.Judge([]run.Run{now}, judging.OfStore(t.Context(), runstore.SoundOf(store), set, judging.Lineage{}), set)
	if err != nil {
		t.Fatal(err)
	}
	warnings := in.Verdict.Runs[0].Warnings
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0].Text, "time per frame after back: the level changed with run run12") {
		t.Errorf("%q", warnings)
	}
}
