package collect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/simulator"
)

// flutter is an app that renders all but its window's first frame by itself, and whose list may be
// slow.
func flutter(more string) string {
	return "surface\ncost 5ms\nnoise session 0% repetition 0% frame 0% tail 0%x1\n" + more + "scenario read-mail 5s\n  start 30\n  600ms scroll 180\n"
}

// drawnOf counts the frames on the screen of the demo app's last process, in windows and surfaces;
// and those that were shown more than half a period late after the previous one of their layer, by
// the phone's own record.
func drawnOf(s *simulator.Simulated) (all, late int) {
	var last int32
	layers := s.Phone.Timeline().Layers
	for _, l := range layers {
		if strings.Contains(l.Title, "com.example.demo/") {
			last = max(last, l.PID)
		}
	}
	for _, l := range layers {
		if l.PID != last || !strings.Contains(l.Title, "com.example.demo/") {
			continue
		}
		shown := slices.DeleteFunc(slices.Clone(l.Frames), func(f simulator.Frame) bool { return f.Presented == 0 })
		all += len(shown)
		for i := 1; i < len(shown); i++ {
			apart := shown[i].Presented - shown[i-1].Presented
			if apart > shown[i].Period*3/2 && apart < 250*time.Millisecond {
				late++
			}
		}
	}
	return all, late
}

// Flutter's frames are in no dump and no frame timeline. All of them are measured by what the
// compositor showed, and a slow list is found by that alone.
func TestShownFramesOfASelfRenderingApp(t *testing.T) {
	t.Parallel()
	for profile, source := range map[string]string{
		"pixel-5-android-11": "dumps of gfxinfo", "galaxy-s21-android-13": "the system's frame timeline",
	} {
		var janky [2]float64
		for i, more := range []string{"", "blocks lock Writer 40ms after scroll every 9\n"} {
			s, job := simulated(t, profile, simulator.Options{Even: true})
			job.App.APK = scrolls(t, flutter(more))
			job.Scenario.Repetitions, job.Scenario.Retries = 2, 0
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 2)
			all, late := drawnOf(s)
			m := r.Run.Iterations[1].Metrics
			if m["frames.count"] != float64(all) || all < 150 || r.Run.Context["frames_by"] != "shown" {
				t.Errorf("%s: %v frames by %s; %d came to the screen", profile, m["frames.count"], r.Run.Context["frames_by"], all)
			}
			// A phone whose display idles at another rate shows the first frames late there; the
			// first frame after an event is not late.
			if m["frames.late"] < float64(late)-1 || m["frames.late"] > float64(late)+8 || m["frames.janky"] > m["frames.late"] {
				t.Errorf("%s: %v late, %v janky; %d came late", profile, m["frames.late"], m["frames.janky"], late)
			}
			if _, told := m["frames.frozen"]; told {
				t.Error("frozen frames are told of, which can't be told from pauses")
			}
			if want := "nothing of what com.example.demo draws by itself is in " + source; len(r.Run.Warnings) != 1 || !warnedOf(r.Run, want) {
				t.Errorf("%s: %v, want %q", profile, r.Run.Warnings, want)
			}
			janky[i] = m["frames.janky"]
		}
		if janky[0] > 3 || janky[1] < 15 {
			t.Errorf("%s: %v janky frames, and %v where each ninth waits for a lock", profile, janky[0], janky[1])
		}
	}
}

// Two builds that are measured alternately are both measured so, from the first round on.
func TestInterleaveOfSelfRenderingBuilds(t *testing.T) {
	t.Parallel()
	_, base := simulated(t, "galaxy-s21-android-13", simulator.Options{Even: true})
	head := base
	base.App.APK, head.App.APK = scrolls(t, flutter("")), scrolls(t, flutter("blocks lock Writer 40ms after scroll every 9\n"))
	base.Scenario.Repetitions, base.Scenario.Retries, head.Scenario.Retries = 2, 0, 0
	b, h := collect.Interleave(t.Context(), collect.Pair{Base: base, Head: head}, collect.Options{})
	for _, c := range []struct {
		collect.Result
		least, most float64 // janky frames
	}{{b, 0, 3}, {h, 15, 40}} {
		wantComplete(t, c.Result, 2)
		for _, it := range c.Run.Iterations {
			if n := it.Metrics["frames.janky"]; c.Run.Context["frames_by"] != "shown" || n < c.least || n > c.most {
				t.Errorf("%v janky frames by %s, want %v to %v", n, c.Run.Context["frames_by"], c.least, c.most)
			}
		}
	}
}

// If configured, an app's own windows are measured so too, and the app is not queried.
func TestShownFramesOnRequest(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-5-android-11", "pixel-7-android-14"} {
		s, job := simulated(t, profile, simulator.Options{})
		spy := spyOn(&job)
		job.Scenario.Repetitions, job.Scenario.FramesBy = 1, config.FramesShown
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		all, _ := drawnOf(s)
		if n := r.Run.Iterations[0].Metrics["frames.count"]; n != float64(all) || r.Run.Context["frames_by"] != "shown" || len(r.Run.Warnings) > 0 {
			t.Errorf("%s: %v frames of %d, %v, %v", profile, n, all, r.Run.Context, r.Run.Warnings)
		}
		if asked := spy.ran("gfxinfo com.example.demo"); len(asked) > 0 {
			t.Errorf("%s: the app was asked for its frames: %q", profile, asked)
		}
	}
	_, job := simulated(t, "moto-g5-android-7.0", simulator.Options{})
	job.Scenario.Repetitions, job.Scenario.FramesBy = 1, config.FramesShown
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 1)
	if r.Run.Context["frames_by"] != "gfxinfo" || !warnedOf(r.Run, "only Android 11 and later") {
		t.Errorf("Android 7: %v, %v", r.Run.Context, r.Run.Warnings)
	}
}

// without is a phone on which perfetto records nothing.
type without struct{ device.Device }

func (w without) Exec(ctx context.Context, line string) (device.Output, error) {
	if strings.Contains(line, "perfetto --txt") {
		return device.Output{ExitCode: 1, Stderr: []byte("perfetto: inaccessible or not found\n")}, nil
	}
	return w.Device.Exec(ctx, line)
}

// TestOneScrollByThreeSources checks the table in docs/collection/frames.md: what each source of frames
// reports of the same scroll, of which some frames wait for a lock, and what the phone showed. The
// document must be within 1 % of the frames, 3 late ones and 0.2 ms.
func TestOneScrollByThreeSources(t *testing.T) {
	t.Parallel()
	table := documented(t)
	const app = "cost 5ms\nnoise session 0% repetition 0% frame 10% tail 0%x1\nblocks lock Writer 30ms after scroll every 40\nscenario read-mail 13s\n  start 30\n  600ms scroll 720\n"
	unasked := map[string]int{} // frames that a phone shows when nobody asks the app
	for _, c := range []struct{ profile, android, by string }{
		{"pixel-5-android-11", "11", "shown"}, {"pixel-5-android-11", "11", "gfxinfo"},
		{"galaxy-s21-android-13", "13", "shown"}, {"galaxy-s21-android-13", "13", "timeline"}, {"galaxy-s21-android-13", "13", "gfxinfo"},
	} {
		s, job := simulated(t, c.profile, simulator.Options{Hz: 60, Even: true})
		job.App.APK = scrolls(t, app)
		job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.Retries = 1, 0, 0
		if c.by == "shown" {
			job.Scenario.FramesBy = config.FramesShown
		}
		if open := job.Open; c.by == "gfxinfo" {
			job.Open = func(ctx context.Context) (device.Device, error) {
				d, err := open(ctx)
				return without{d}, err
			}
		}
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		m := r.Run.Iterations[0].Metrics
		all, _ := drawnOf(s)
		if c.by == "shown" {
			unasked[c.profile] = all
		}
		if r.Run.Context["frames_by"] != c.by {
			t.Errorf("frames by %s, want %s: %v", r.Run.Context["frames_by"], c.by, r.Run.Warnings)
		}
		name := fmt.Sprintf("Android %s, by %s", c.android, c.by)
		stalled := s.Phone.Stalled().Milliseconds()
		less := 100 * (1 - float64(all)/float64(unasked[c.profile]))
		t.Logf("| %s | %v | %d | %.1f %% | %v | %v | %.1f ms | %d ms |", name, m["frames.count"], all, less, m["frames.late"], m["frames.janky"], m["frames.duration_ms"], stalled)
		row := table[name]
		if len(row) != 7 || !isAbout(row[0], m["frames.count"], m["frames.count"]/100) || !isAbout(row[1], float64(all), float64(all)/100) || !isAbout(row[2], less, 1) || !isAbout(row[3], m["frames.late"], 3) ||
			!isAbout(row[4], m["frames.janky"], 3) || !isAbout(row[5], m["frames.duration_ms"], 0.2) || !isAbout(row[6], float64(stalled), float64(stalled)/10) {
			t.Errorf("docs/collection/frames.md has %q of %s: make its table anew", row, name)
		}
		if m["frames.count"] != float64(all) || c.by != "gfxinfo" && all != unasked[c.profile] {
			t.Errorf("%s: %v frames count of %d that were shown, and %d where nobody asks", name, m["frames.count"], all, unasked[c.profile])
		}
	}
}

// TestShownFramesMissSlowerRendering shows why shown frames are not used where Android draws: a
// build whose frames take twice as long, and are still in time, is slower by the frame timeline,
// and equal by what was shown.
func TestShownFramesMissSlowerRendering(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]float64{config.FramesAuto: 1.8, config.FramesShown: 1} {
		var took [2]float64
		for i, cost := range []string{"5ms", "10ms"} {
			_, job := simulated(t, "galaxy-s21-android-13", simulator.Options{Hz: 60, Even: true})
			job.App.APK = scrolls(t, "cost "+cost+"\nnoise session 0% repetition 0% frame 0% tail 0%x1\nscenario read-mail 4s\n  start 30\n  600ms scroll 120\n")
			job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.FramesBy = 1, 0, by
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 1)
			took[i] = r.Run.Iterations[0].Metrics["frames.duration_ms"]
		}
		if ratio := took[1] / took[0]; ratio < want-0.05 || ratio > want+0.25 {
			t.Errorf("%s: %v ms and %v ms, %.2f times as long", by, took[0], took[1], ratio)
		}
	}
}

// idle replaces the first two workloads by a test that does nothing in the app.
type idle struct {
	device.Device
	left *int
}

func (d idle) Start(ctx context.Context, line string) (device.Process, error) {
	if strings.Contains(line, "am instrument") && *d.left > 0 {
		*d.left--
		line = strings.Replace(line, "#readsMail", "#idles", 1)
	}
	return d.Device.Start(ctx, line)
}

// A test that once does nothing in an app whose views Android draws does not change the source of
// its frames: its history would start again.
func TestFrameSourceIsKeptAfterAnIdleTest(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "galaxy-s21-android-13", simulator.Options{})
	job.App.APK = scrolls(t, "scenario read-mail 4s\n  start 30\n  600ms scroll 120\nscenario idle 2s\n  start 0\n  500ms wait 0\ntest com.example.demo.ReadMailTest#readsMail read-mail\ntest com.example.demo.ReadMailTest#idles idle\n")
	job.App.TestAPK, job.Scenario.Workload.Instrumentation.TestPackage = "", "com.example.demo"
	job.Scenario.Repetitions, job.Scenario.Retries = 1, 0
	left, open := 2, job.Open
	job.Open = func(ctx context.Context) (device.Device, error) {
		d, err := open(ctx)
		return idle{d, &left}, err
	}
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 1)
	if n := r.Run.Iterations[0].Metrics["frames.count"]; left > 0 || r.Run.Context["frames_by"] != "timeline" || n < 150 || len(r.Run.Warnings) > 0 {
		t.Errorf("%v frames by %s, %v; %d left", n, r.Run.Context["frames_by"], r.Run.Warnings, left)
	}
}
