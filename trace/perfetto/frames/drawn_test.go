package frames_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/frames"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

type message = tracetest.Message

// timeline is a trace of a device whose CLOCK_BOOTTIME is 100 s ahead.
type timeline struct {
	trace  message
	cookie int64
}

const ahead = 100_000 // ms

func newTimeline() *timeline {
	clock := func(id, ms int64) message {
		return message(nil).Num(field.ClockClockID, id).Num(field.ClockTimestamp, ms*1_000_000)
	}
	const boottime, monotonic = 6, 3
	t := &timeline{}
	t.put(message(nil).In(field.PacketClockSnapshot, message(nil).
		In(field.ClockSnapshotClocks, clock(boottime, ahead)).In(field.ClockSnapshotClocks, clock(monotonic, 0))))
	return t
}

func (t *timeline) put(packet message) { t.trace = t.trace.In(field.TracePacket, packet) }

// event writes an event at a time of CLOCK_MONOTONIC in ms.
func (t *timeline) event(ms int64, event message) {
	t.put(message(nil).Num(field.PacketTimestamp, (ms+ahead)*1_000_000).Num(field.PacketTrustedPacketSequenceID, 7).
		In(field.PacketFrameTimelineEvent, event))
}

func (t *timeline) end(ms int64) {
	t.event(ms, message(nil).In(field.FrameFrameEnd, message(nil).Num(field.FrameEndCookie, t.cookie)))
}

// expect writes the expected times of a frame of the app.
func (t *timeline) expect(token, from, to int64) {
	t.cookie++
	t.event(from, message(nil).In(field.FrameExpectedSurfaceFrameStart, message(nil).Num(field.ExpectedSurfaceCookie, t.cookie).
		Num(field.ExpectedSurfaceToken, token).Num(field.ExpectedSurfaceDisplayFrameToken, token+1).Num(field.ExpectedSurfacePID, app)))
	t.end(to)
}

// draw writes a frame of the app; to is 0 for one without an end.
func (t *timeline) draw(token, from, to int64, change func(message) message) {
	t.cookie++
	m := message(nil).Num(field.ActualSurfaceCookie, t.cookie).Num(field.ActualSurfaceToken, token).
		Num(field.ActualSurfaceDisplayFrameToken, token+1).Num(field.ActualSurfacePID, app).Text(field.ActualSurfaceLayerName, "TX - app/.Main#1")
	if change != nil {
		m = change(m)
	}
	t.event(from, message(nil).In(field.FrameActualSurfaceFrameStart, m))
	if to > 0 {
		t.end(to)
	}
}

const app = 10

func (t *timeline) read(test *testing.T) frames.Timeline {
	test.Helper()
	out, err := frames.ReadTimeline(bytes.NewReader(t.trace), func(pid int) bool { return pid == app })
	if err != nil {
		test.Fatal(err)
	}
	return out
}

// Values of a frame's fields.
func jankType(types int64) func(message) message {
	return func(m message) message {
		return m.Num(field.ActualSurfaceJankType, types).Num(field.ActualSurfaceIsBuffer, 1)
	}
}

const (
	none, hal, sfCPU, late, stuffed, unknown, sfStuffed, droppedJank, resynced = 1, 8, 16, 64, 128, 256, 512, 1024, 4096
)

// early marks a frame that was shown before it was due.
const early = 1 << 40

// A frame is janky if Android states that the app made it late.
func TestDrawnJank(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		types int64
		end   int64 // ms; the deadline is 16
		janky bool
	}{
		{"in time", none, 12, false},
		{"after its deadline, and shown in time all the same", none, 17, false},
		{"too late", late, 17, true},
		{"too late, behind others that wait", late | stuffed, 30, true},
		{"too late, and the display too", late | hal, 30, true},
		{"behind others that wait", stuffed, 30, false},
		{"late by the compositor", sfCPU, 12, false},
		{"late by the display", hal, 12, false},
		{"late by the compositor's own queue", sfStuffed, 12, false},
		{"at another time than it was told", resynced, 12, true},
		{"nobody knows, after its deadline", unknown, 17, true},
		{"nobody knows, in time", unknown, 16, false},
		{"dropped", droppedJank, 40, false},
		{"after its deadline, and shown too early", unknown | early, 17, false},
	} {
		trace := newTimeline()
		trace.expect(5, 0, 16)
		trace.draw(5, 0, c.end, func(m message) message {
			if c.types&early != 0 {
				m = m.Num(field.ActualSurfacePresentType, 3)
			}
			return jankType(c.types &^ early)(m)
		})
		got := trace.read(t)
		if len(got.Frames) != 1 || got.Frames[0].Janky != c.janky {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Times are on CLOCK_MONOTONIC; a frame begins with the vsync that it was meant for, however late
// the app began.
func TestDrawnTimes(t *testing.T) {
	t.Parallel()
	trace := newTimeline()
	trace.expect(5, 1000, 1016)
	trace.draw(5, 1003, 1020, jankType(late))
	trace.draw(6, 1030, 1040, jankType(none)) // without an expectation
	got := trace.read(t).Frames
	want := []jank.Frame{
		{At: time.Second, Took: 20 * time.Millisecond, Over: 4 * time.Millisecond, Due: true, Janky: true, First: true},
		{At: 1030 * time.Millisecond, Took: 10 * time.Millisecond},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Which frames of a trace an app drew.
func TestDrawnFramesOfAnApp(t *testing.T) {
	t.Parallel()
	trace := newTimeline()
	trace.expect(5, 0, 16)
	trace.draw(5, 0, 10, jankType(none))
	trace.draw(5, 0, 12, func(m message) message { // a dialog, at the same vsync
		return jankType(none)(m).Text(field.ActualSurfaceLayerName, "TX - PopupWindow:1#2")
	})
	trace.draw(5, 0, 11, func(m message) message { // a layer that is moved
		return m.Num(field.ActualSurfaceIsBuffer, 0)
	})
	trace.draw(6, 16, 20, func(m message) message { return jankType(none)(m).Num(field.ActualSurfacePID, 11) })
	trace.draw(7, 32, 40, func(m message) message { return jankType(none)(m).Num(field.ActualSurfacePresentType, 4) })
	trace.draw(8, 48, 0, jankType(none))
	got := trace.read(t)
	if len(got.Frames) != 4 || got.Dropped != 1 || got.Unended != 1 {
		t.Fatalf("%+v", got)
	}
	for _, f := range got.Frames[2:] {
		if f.Took != jank.Unknown || f.Due || f.Janky {
			t.Errorf("a frame whose end is not told: %+v", f)
		}
	}
}

// A frame whose vsync the system has forgotten begins 2 ms before its end in the trace. It was due
// after the last vsync that was numbered before it.
func TestDrawnForgottenFrame(t *testing.T) {
	t.Parallel()
	trace := newTimeline()
	trace.expect(5, 0, 16)
	trace.draw(5, 3, 10, jankType(none))
	trace.draw(6, 4998, 5000, func(m message) message { return jankType(late)(m).Num(field.ActualSurfacePredictionType, 2) })
	trace.expect(700, 5016, 5032)
	trace.draw(700, 5016, 5020, jankType(none))
	got := trace.read(t)
	if len(got.Frames) != 3 || got.Forgotten != 1 {
		t.Fatalf("%+v", got)
	}
	long := got.Frames[1]
	if m := jank.Metrics(got.Frames); !long.Janky || long.Took != 5*time.Second || long.Due || m["frames.frozen"] != 1 {
		t.Errorf("%+v, %v", long, m)
	}
}

// The display's rate is derived from the frames.
func TestDrawnInterval(t *testing.T) {
	t.Parallel()
	trace := newTimeline()
	for i := range int64(40) {
		at := i * 8
		if i > 30 {
			at += (i - 30) * 50 // now and then
		}
		trace.expect(i, at, at+8)
		trace.draw(i, at, at+5, jankType(none))
	}
	for _, f := range trace.read(t).Frames {
		if f.Interval != 8*time.Millisecond {
			t.Fatalf("a period of %v", f.Interval)
		}
	}
}

// Gaps in the frame timeline are counted, other gaps are not.
func TestTimelineCountsGaps(t *testing.T) {
	t.Parallel()
	config := func(buffer int64) message {
		source := func(name string, target int64) message {
			return message(nil).In(field.ConfigSourceConfig, message(nil).Text(field.SourceConfigName, name).Num(field.SourceConfigTargetBuffer, target))
		}
		return message(nil).In(field.PacketTraceConfig, message(nil).In(field.ConfigDataSources, source("linux.ftrace", 1-buffer)).
			In(field.ConfigDataSources, source("android.surfaceflinger.frametimeline", buffer)))
	}
	stats := message(nil).In(field.PacketTraceStats, message(nil).
		In(field.StatsBufferStats, message(nil).Num(field.BufferStatsChunksOverwritten, 3)).In(field.StatsBufferStats, message(nil)))
	for buffer, want := range map[int64]int{0: 3, 1: 0} {
		trace := newTimeline()
		trace.put(config(buffer))
		trace.draw(5, 0, 10, jankType(none))
		trace.put(stats)
		if got := trace.read(t).Lost; got != want {
			t.Errorf("in buffer %d: %d lost, want %d", buffer, got, want)
		}
	}
	trace := newTimeline()
	gap := func(sequence int64, event message) {
		trace.put(message(nil).Num(field.PacketTimestamp, ahead*1_000_000).Num(field.PacketTrustedPacketSequenceID, sequence).
			Num(field.PacketPreviousPacketDropped, 1).In(field.PacketFrameTimelineEvent, event))
	}
	gap(7, nil) // the first of a sequence always has it
	trace.draw(5, 0, 10, jankType(none))
	gap(7, message(nil).In(field.FrameFrameEnd, message(nil).Num(field.FrameEndCookie, 99)))
	if got := trace.read(t).Lost; got != 1 {
		t.Errorf("after a gap: %d lost", got)
	}
}

// A trace without the timeline differs from one in which the app drew nothing, and one whose clock
// leads nowhere is an error.
func TestReadTimelineWithoutATimeline(t *testing.T) {
	t.Parallel()
	if got := newTimeline().read(t); got.Written || len(got.Frames) != 0 {
		t.Errorf("an empty trace: %+v", got)
	}
	other := newTimeline()
	other.draw(5, 0, 10, func(m message) message { return jankType(none)(m).Num(field.ActualSurfacePID, 11) })
	if got := other.read(t); !got.Written || len(got.Frames) != 0 {
		t.Errorf("another app's: %+v", got)
	}
	var alone timeline
	alone.draw(5, 0, 10, jankType(none))
	if _, err := frames.ReadTimeline(bytes.NewReader(alone.trace), func(int) bool { return true }); !errors.Is(err, frames.ErrNoClock) {
		t.Errorf("without clocks: %v", err)
	}
}

// Perfetto's own tables (actual_frame_timeline_slice, expected_frame_timeline_slice) of an app on a
// phone of 120 Hz: 739 frames, 16 with "App Deadline Missed", 45 more of "Buffer Stuffing" alone,
// and one without an end; 32 were done after their deadline.
func TestReadTimelineOfARealTrace(t *testing.T) {
	t.Parallel()
	file, err := os.Open(corpustest.Path(t, "perfetto", "nowinandroid_trace.perfetto-trace"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	got, err := frames.ReadTimeline(file, func(pid int) bool { return pid == 9305 })
	if err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, f := range got.Frames {
		if f.Due && f.Over > 0 {
			late++
		}
	}
	m := jank.Metrics(got.Frames)
	if m["frames.count"] != 739 || m["frames.janky"] != 16 || late != 32 || got.Unended != 1 || got.Lost != 0 {
		t.Errorf("%v; %d late, %d without an end, %d lost", m, late, got.Unended, got.Lost)
	}
	if hz := fmt.Sprintf("%.0f", float64(time.Second)/float64(got.Frames[0].Interval)); hz != "120" {
		t.Errorf("a display of %s Hz", hz)
	}
	if want := -8.861135292682928; math.Abs(m["frames.overrun_ms"]-want) > 1e-6 {
		t.Errorf("%g ms beyond the deadline, want %g", m["frames.overrun_ms"], want)
	}
}
