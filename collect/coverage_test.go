package collect_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// scroll is an app that draws for 12 s without a pause.
const scroll = "cost 5ms\nscenario read-mail 13s\n  start 30\n  600ms scroll 720\n"

// visits is an app whose list opens a window and closes it after a while, for 12 s.
func visits(lives time.Duration) string {
	var b strings.Builder
	b.WriteString("cost 5ms\nscenario read-mail 13s\n  start 30\n")
	frames := func(d time.Duration) int { return int(d.Seconds() * 60) }
	const between = 600 * time.Millisecond
	for at := 600 * time.Millisecond; at+lives+between < 12*time.Second; at += lives + between {
		fmt.Fprintf(&b, "  %v open %d opens for %v\n  %v back %d\n", at, frames(lives), lives, at+lives, frames(between-100*time.Millisecond))
	}
	return b.String()
}

// coverage is how many frames of a run were seen.
type coverage struct {
	drawn      []int // by the phone, in each repetition
	iterations []run.Iteration
	stalled    time.Duration
}

// counts returns the run's frame count of each repetition.
func (c coverage) counts() (out []int) {
	for _, it := range c.iterations {
		out = append(out, int(it.Metrics["frames.count"]))
	}
	return out
}

// covers measures an app on a phone that is as slow as real ones, with frames from its frame
// timeline or from dumps.
func covers(t *testing.T, by string, o simulator.Options, app string, repetitions int) coverage {
	t.Helper()
	profile := map[string]string{"timeline": "galaxy-s21-android-13", "gfxinfo": "pixel-5-android-11"}[by]
	s, job := simulated(t, profile, o)
	job.App.APK = scrolls(t, app)
	job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.Retries = repetitions, 0, 0
	byPID := map[int32]int{}
	look := func() {
		for pid, n := range drawnBy(s, by) {
			byPID[pid] = max(byPID[pid], n) // the phone forgets old frames
		}
	}
	r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(journal.Event) { look() })})
	wantComplete(t, r, repetitions)
	look()
	if r.Run.Context["frames_by"] != by {
		t.Fatalf("frames by %s, want %s: %v", r.Run.Context["frames_by"], by, r.Run.Warnings)
	}
	c := coverage{iterations: r.Run.Iterations, stalled: s.Phone.Stalled()}
	for _, pid := range slices.Sorted(maps.Keys(byPID)) {
		c.drawn = append(c.drawn, byPID[pid])
	}
	return c
}

// drawnBy counts the frames of each process of the demo app: those on the screen, which the
// compositor reports, or those that the process counted itself.
func drawnBy(s *simulator.Simulated, by string) map[int32]int {
	out := map[int32]int{}
	for _, l := range s.Phone.Timeline().Layers {
		for _, f := range l.Frames {
			if there := by == "timeline" && f.Presented > 0 || by == "gfxinfo" && f.Counted > 0; there && strings.HasPrefix(l.Title, "com.example.demo/") {
				out[l.PID]++
			}
		}
	}
	return out
}

// documented returns the rows of a table of docs/collection/frames.md, without the first column, by that
// column.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "collection", "frames.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | "); len(cells) > 1 {
			rows[strings.TrimSpace(cells[0])] = cells[1:]
		}
	}
	return rows
}

// isAbout reports whether a cell has a number such as "1234 ms", within a tolerance.
func isAbout(cell string, n, within float64) bool {
	number, _, _ := strings.Cut(strings.TrimSpace(cell), " ")
	stated, err := strconv.ParseFloat(number, 64)
	return err == nil && math.Abs(stated-n) <= within
}

// TestFrameCoverage checks the table in docs/collection/frames.md: how many of an app's frames are counted
// and seen, at each rate of the display and for short-lived windows, and for how long reading kept
// the app from drawing. The document must be within 1 % of the frames, 3 points of the share and 10
// % of that time.
func TestFrameCoverage(t *testing.T) {
	t.Parallel()
	table := documented(t)
	check := func(by string, hz int, what, app string) {
		c := covers(t, by, simulator.Options{Hz: hz}, app, 1)
		seen := c.iterations[0].FramesSeen
		if seen == 0 {
			seen = 1
		}
		name, drawn, stalled := fmt.Sprintf("%s, %d Hz, %s", by, hz, what), float64(c.drawn[0]), float64(c.stalled.Milliseconds())
		t.Logf("| %s | %d | %d | %.1f %% | %d ms |", name, c.drawn[0], c.counts()[0], 100*seen, c.stalled.Milliseconds())
		if row := table[name]; len(row) != 4 || !isAbout(row[0], drawn, drawn/100) || !isAbout(row[1], drawn, drawn/100) ||
			!isAbout(row[2], 100*seen, 3) || !isAbout(row[3], stalled, stalled/10) {
			t.Errorf("docs/collection/frames.md has %q of %s: make its table anew", row, name)
		}
		if !slices.Equal(c.counts(), c.drawn) {
			t.Errorf("%s, %d Hz, %s: %v of %v frames count", by, hz, what, c.counts(), c.drawn)
		}
		if by == "timeline" && (seen < 1 || c.stalled > 0) || by == "gfxinfo" && what == "scrolling" && hz <= 120 && seen < 0.99 {
			t.Errorf("%s, %d Hz, %s: %.1f %% of the frames were seen, the app was stopped for %v", by, hz, what, 100*seen, c.stalled)
		}
	}
	for _, by := range []string{"timeline", "gfxinfo"} {
		for _, hz := range []int{60, 90, 120, 144} {
			check(by, hz, "scrolling", scroll)
		}
		for _, lives := range []time.Duration{400, 700, 1000, 2000} {
			check(by, 120, fmt.Sprintf("windows that live %d ms", int64(lives)), visits(lives*time.Millisecond))
		}
	}
}

// TestFramesCountWithLateStatistics has phones store the counts of an ended process late, at the
// test's end or before the next repetition: frames of one repetition are never counted in the next.
func TestFramesCountWithLateStatistics(t *testing.T) {
	t.Parallel()
	const brief = "cost 4ms\nscenario read-mail 3s\n  start 30\n  600ms scroll 60\n"
	for _, takes := range []time.Duration{1, 250, 350, 700, 1200, 1700} {
		o := simulator.Options{KeepsAfter: takes * time.Millisecond}
		seen := covers(t, "gfxinfo", o, brief, 3)
		if counts := seen.counts(); !slices.Equal(counts, seen.drawn) {
			t.Errorf("kept after %d ms: %v frames count, %v were drawn", takes, counts, seen.drawn)
		}
		s, job := simulated(t, "pixel-5-android-11", o)
		job.Scenario.Workload = config.Workload{Monkey: &config.Monkey{Seed: 3, Events: 20, Throttle: 100 * time.Millisecond}}
		job.Scenario.Repetitions, job.Scenario.WarmUp = 3, 0
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 3)
		byPID := drawnBy(s, "gfxinfo")
		for i, pid := range slices.Sorted(maps.Keys(byPID)) {
			if n := (coverage{iterations: r.Run.Iterations}).counts()[i]; n > byPID[pid] || n < byPID[pid]-2 { // it may draw on
				t.Errorf("kept after %d ms: %d frames count of an app that lives on, %d were drawn", takes, n, byPID[pid])
			}
		}
	}
}

// TestRepetitionsOfABuildCountAlike measures ten repetitions of one build: the frame timeline has
// all frames that the phone showed, and dumps have nearly the same number, since each dump blocks
// the app's drawing for a while. A phone whose app and compositor do the same each time shows the
// same number in all ten: the queries cost no frame.
func TestRepetitionsOfABuildCountAlike(t *testing.T) {
	t.Parallel()
	const steady = "cost 4ms\nnoise session 0% repetition 0% frame 0% tail 0%x1\nscenario read-mail 14s\n  start 30\n  600ms scroll 720\n"
	for _, c := range []struct {
		by     string
		even   bool
		spread float64 // of the counts, as a share
	}{{"timeline", true, 0}, {"timeline", false, 0.01}, {"gfxinfo", false, 0.01}} {
		seen := covers(t, c.by, simulator.Options{Even: c.even}, steady, 10)
		counts := seen.counts()
		t.Log(c.by, c.even, counts)
		if !slices.Equal(counts, seen.drawn) {
			t.Errorf("%s: %v frames count, %v were drawn", c.by, counts, seen.drawn)
		}
		if most, least := slices.Max(counts), slices.Min(counts); float64(most-least) > c.spread*float64(least) {
			t.Errorf("%s, the phone does everything alike: %v: between %d and %d frames", c.by, c.even, least, most)
		}
	}
}
