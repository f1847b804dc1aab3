package phone

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/profile"
	gfxread "github.com/apkgate/apkgate/trace/gfxinfo"
	ftread "github.com/apkgate/apkgate/trace/perfetto/frames"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// recordFrames starts perfetto with the frame timeline, and returns its process id.
func recordFrames(t *testing.T, p *Phone) (pid string) {
	t.Helper()
	config := `buffers { size_kb: 4096 fill_policy: RING_BUFFER } data_sources { config { name: "android.surfaceflinger.frametimeline" } }`
	out := output(t, p, "echo '"+config+"' | perfetto --txt -c - -o "+framesTrace+" --background")
	return strings.TrimSpace(out)
}

const framesTrace = "/data/misc/perfetto-traces/frames.pftrace"

// tracedFrame is a frame of a trace, with its layer's name.
type tracedFrame struct {
	ftread.Frame
	layer string
}

// traced returns the frames of a finished trace.
func traced(t *testing.T, p *Phone, pid string) []tracedFrame {
	t.Helper()
	output(t, p, "kill "+pid)
	pass(t, p, time.Second)
	f := packets.New()
	r := ftread.New(f)
	if err := f.ReadInOrder(bytes.NewReader([]byte(output(t, p, "cat "+framesTrace))), r); err != nil {
		t.Fatal(err)
	}
	if r.Malformed > 0 || r.Unpaired > 0 {
		t.Errorf("%d malformed events, %d ends without a beginning", r.Malformed, r.Unpaired)
	}
	var out []tracedFrame
	for _, f := range r.Frames.All() {
		out = append(out, tracedFrame{*f, r.Layers[f.Layer]})
	}
	return out
}

// The frames that SurfaceFlinger reports are those in framestats: with the same tokens, and
// done at the same time.
func TestFrameTimelineAgreesWithFramestats(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", still)
	pid := recordFrames(t, p)
	start(p, instrument)
	pass(t, p, 1500*time.Millisecond)
	rows := framestats(t, output(t, p, "dumpsys gfxinfo com.example.still framestats"))
	pass(t, p, 10*time.Second)
	byToken, displays, others := map[int64]tracedFrame{}, 0, 0
	for _, f := range traced(t, p, pid) {
		switch {
		case f.Actual && f.Surface && f.PID != 4217: // the launcher's, and the splash screen's
			others++
		case f.Actual && f.Surface:
			byToken[f.Token] = f
			if !strings.HasPrefix(f.layer, "TX - com.example.still/com.example.still.") {
				t.Fatalf("a frame of %q", f.layer)
			}
		case f.Actual:
			displays++
		}
	}
	for _, row := range rows {
		token, done, late := row["FrameTimelineVsyncId"], row["FrameCompleted"], row["FrameCompleted"] >= row["FrameDeadline"]
		f, ok := byToken[token]
		if !ok {
			t.Fatalf("no frame in the trace for the row of token %d", token)
		}
		if done < row["IntendedVsync"] {
			continue // SurfaceFlinger has not told the app yet
		}
		if end := int64(f.At + f.For - clock.Slept); end != done { // the trace is on CLOCK_BOOTTIME
			t.Errorf("token %d: done at %d by its row, at %d by the timeline", token, done, end)
		}
		if late != (f.JankType() == "App Deadline Missed") {
			t.Errorf("token %d: late by its row %v, %s by the timeline", token, late, f.JankType())
		}
	}
	if others < 10 {
		t.Errorf("%d frames of others than the app", others)
	}
	if len(rows) < 30 || len(byToken) < len(rows)+100 || displays < len(byToken) {
		t.Errorf("%d rows, %d frames of the whole run, %d of the display", len(rows), len(byToken), displays)
	}
}

// windowsOf returns an app's windows, including closed ones.
func windowsOf(p *Phone, pkg string) (out []*timeline.Layer) {
	for _, l := range p.Timeline().Layers {
		if strings.HasPrefix(l.Title, pkg+"/") {
			out = append(out, l)
		}
	}
	return out
}

// framestats parses the rows of a dump, by column.
func framestats(t *testing.T, dump string) (rows []map[string]int64) {
	t.Helper()
	var columns []string
	for line := range strings.Lines(dump) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), ","), ",")
		switch {
		case cells[0] == "Flags":
			columns = cells
		case columns != nil && len(cells) == len(columns):
			row := map[string]int64{}
			for i, cell := range cells {
				n, err := strconv.ParseInt(cell, 10, 64)
				if err != nil {
					t.Fatalf("row %q: %v", line, err)
				}
				row[columns[i]] = n
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Before Android 12 there is no frame timeline: the trace is empty, without an error.
func TestNoFrameTimelineBeforeAndroid12(t *testing.T) {
	p := newPhone(t, "pixel-5-android-11", still)
	pid := recordFrames(t, p)
	start(p, instrument)
	pass(t, p, 3*time.Second)
	if got := traced(t, p, pid); len(got) > 0 {
		t.Errorf("%d frames", len(got))
	}
}

// windows is an app that opens a dialog for 0.8 s, then an activity that stays.
const windows = `apkgate-simulated-app/1
package com.example.windows
noise session 0% repetition 0% frame 0% tail 0%
cost 5ms
startup 300ms
scenario main 6s
  start 30
  1s ask 60 opens for 800ms
  3s open-detail 60 opens
test com.example.windows.MainTest#runs main
`

// A window has rows of its own, which disappear when it closes; the process's statistics of it
// stay.
func TestRowsDisappearWithTheirWindow(t *testing.T) {
	for _, name := range []string{"nexus-5x-android-6.0.0", "pixel-5-android-11", "pixel-7-android-14"} {
		p := newPhone(t, name, windows)
		start(p, strings.ReplaceAll(instrument, "com.example.still", "com.example.windows"))
		dump := func() gfxread.Dump {
			d, err := gfxread.Read(strings.NewReader(output(t, p, "dumpsys gfxinfo com.example.windows framestats")))
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		rows := func(d gfxread.Dump) (n int) {
			for _, w := range d.Processes[0].Windows {
				n += len(w.Frames)
			}
			return n
		}
		pass(t, p, 1750*time.Millisecond) // 0.4 s for the launch, then 1.35 s
		asked := dump()
		pass(t, p, 1200*time.Millisecond)
		closed := dump()
		if a, b := len(asked.Processes[0].Windows), len(closed.Processes[0].Windows); a != 2 || b != 1 {
			t.Errorf("%s: %d windows while the dialog shows, %d afterwards", name, a, b)
		}
		if total := asked.Processes[0].Stats.Total; total > int64(rows(asked)) {
			t.Errorf("%s: the process counts %d frames while the dialog shows, its windows have rows of %d", name, total, rows(asked))
		}
		if total := closed.Processes[0].Stats.Total; total < int64(rows(closed))+15 {
			t.Errorf("%s: the process counts %d frames, its windows have rows of %d", name, total, rows(closed))
		}
		pass(t, p, 2*time.Second)
		if opened := dump(); len(opened.Processes[0].Windows) != 2 {
			t.Errorf("%s: %d windows in the end, want two activities", name, len(opened.Processes[0].Windows))
		}
	}
}

// A dump takes longer on a slow phone, and the app draws nothing while it dumps its frames.
func TestDumpsStallFramesOfTheApp(t *testing.T) {
	took := map[string]time.Duration{}
	for _, name := range []string{"pixel-3-android-9", "c1-go-android-11"} {
		pr, err := profile.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		p := New(pr, 1, Options{Chatter: -1})
		t.Cleanup(p.Close)
		if err := p.Install([]byte(strings.Replace(still, "start 30", "start 300", 1))); err != nil {
			t.Fatal(err)
		}
		start(p, instrument)
		pass(t, p, 2*time.Second)
		before := p.Clock().Now()
		output(t, p, "dumpsys gfxinfo com.example.still framestats")
		after := p.Clock().Now()
		took[name] = after - before
		if took[name] < 60*time.Millisecond || took[name] > 300*time.Millisecond {
			t.Errorf("%s: a dump takes %v", name, took[name])
		}
		if stalled := p.Stalled(); stalled <= 0 || stalled >= took[name] {
			t.Errorf("%s: of the %v that a dump takes, %v on the app's render thread", name, took[name], stalled)
		}
		pass(t, p, time.Second)
		drawn := 0
		for _, l := range p.Timeline().Layers {
			for _, f := range l.Frames {
				if f.Sync > before+60*time.Millisecond && f.Sync < after {
					drawn++
				}
			}
		}
		if most := int((took[name] - p.Stalled()) / pr.Period()); drawn > most+1 {
			t.Errorf("%s: %d frames are drawn during a dump that lasts %v and stalls them for %v", name, drawn, took[name], p.Stalled())
		}
	}
	if took["c1-go-android-11"] < took["pixel-3-android-9"] {
		t.Errorf("dumps take %v", took)
	}
}

// The summary, the rows, the frame timeline and the truth contain the same frames, and, unless
// a buffer waits after a late frame, the same janky ones.
func TestSourcesOfFramesAgree(t *testing.T) {
	const late = "\njank 70ms after tap\njank 40ms after swipe\nnoise session 0% repetition 0% frame 10% tail 0%\n"
	for _, name := range []string{"pixel-7-android-14", "galaxy-s21-android-13"} {
		p := newPhone(t, name, strings.NewReplacer("cost 5ms", "cost 4ms"+late, "noise session 0% repetition 0% frame 0% tail 0%\n", "", " opens", "").Replace(still))
		output(t, p, "cmd package compile -m speed -f com.example.still")
		pid := recordFrames(t, p)
		s := start(p, instrument)
		pass(t, p, 5200*time.Millisecond) // idle by then
		d, err := gfxread.Read(strings.NewReader(output(t, p, "dumpsys gfxinfo com.example.still framestats")))
		if err != nil {
			t.Fatal(err)
		}
		finish(t, p, s)
		var count, janky, own int
		for _, l := range windowsOf(p, "com.example.still") {
			for _, f := range l.Frames {
				count++
				if f.Janky {
					janky++
				}
				if f.Jank&timeline.AppDeadline != 0 {
					own++
				}
			}
		}
		stats := d.Processes[0].Stats
		if count < 200 || janky < 2 || own != janky {
			t.Fatalf("%s: %d frames, %d janky, %d by SurfaceFlinger", name, count, janky, own)
		}
		if stats.Total != int64(count) || stats.Janky != int64(janky) {
			t.Errorf("%s: the summary has %d frames, %d janky, want %d and %d", name, stats.Total, stats.Janky, count, janky)
		}
		told, late := 0, 0
		for _, f := range traced(t, p, pid) {
			if f.Actual && f.Surface && strings.Contains(f.layer, " com.example.still/") {
				told++
				late += map[bool]int{true: 1}[strings.Contains(f.JankType(), "App Deadline Missed")]
			}
		}
		if told != count || late != janky {
			t.Errorf("%s: the frame timeline has %d frames, %d late by the app, want %d and %d", name, told, late, count, janky)
		}
	}
}

// A screen on which nothing moves refreshes at 60 Hz, and so do the first frames of an
// animation that starts by itself. A touch switches to the highest rate at once, and the
// settings can keep it there.
func TestIdleScreenLowersItsRate(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		p := newPhone(t, "pixel-7-android-14", still)
		if pinned {
			output(t, p, "settings put system min_refresh_rate 90.0")
			pass(t, p, time.Second) // until the mode change is complete
		}
		start(p, instrument)
		pass(t, p, 5200*time.Millisecond)
		has(t, output(t, p, "dumpsys display"), map[bool]string{false: "renderFrameRate 60.0,", true: "renderFrameRate 90.0,"}[pinned])
		var slow, touched int
		frames := windowsOf(p, "com.example.still")[0].Frames
		for _, f := range frames {
			if f.Period > 12*time.Millisecond {
				slow++
				if f.Expected.From > frames[0].Expected.From+time.Second { // after the tap
					touched++
				}
			}
		}
		if pinned && slow > 0 || !pinned && (slow < 4 || slow > 10) || touched > 0 || len(frames) < 100 {
			t.Errorf("pinned %v: %d of %d frames at 60 Hz, %d of them after a touch", pinned, slow, len(frames), touched)
		}
	}
}
