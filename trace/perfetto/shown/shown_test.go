package shown_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/shown"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

type message = tracetest.Message

// The types of events.
const (
	dequeue = 1
	queue   = 2
	acquire = 4
	latch   = 5
	present = 8
)

const (
	app    = "com.example.demo"
	window = app + "/" + app + ".MainActivity#0"
	video  = "SurfaceView[" + app + "/" + app + ".MainActivity](BLAST)#7"
)

// phone is a trace of a device whose CLOCK_BOOTTIME is 100 s ahead of CLOCK_MONOTONIC, with the
// compositor's reports on buffers.
type phone struct{ trace message }

func newPhone() *phone {
	clock := func(id, s int64) message {
		return message(nil).Num(field.ClockClockID, id).Num(field.ClockTimestamp, s*1_000_000_000)
	}
	p := &phone{}
	p.put(message(nil).In(field.PacketClockSnapshot, message(nil).In(field.ClockSnapshotClocks, clock(6, 100)).In(field.ClockSnapshotClocks, clock(3, 0))))
	return p
}

func (p *phone) put(packet message) { p.trace = p.trace.In(field.TracePacket, packet) }

// tell writes an event of a buffer, at a time in ms.
func (p *phone) tell(layer string, number int64, kind int64, at float64) {
	e := message(nil).Num(field.BufferFrameNumber, number).Num(field.BufferType, kind).Text(field.BufferLayerName, layer).Num(field.BufferBufferID, number%3)
	p.packet(at, e, message(nil))
}

func (p *phone) packet(at float64, event, more message) {
	p.put(append(message(nil).Num(field.PacketTimestamp, int64(at*1e6)).Num(field.PacketTimestampClockID, 3).Num(field.PacketTrustedPacketSequenceID, 7).
		In(field.PacketGraphicsFrameEvent, message(nil).In(field.GraphicsFrameBufferEvent, event)), more...))
}

// draw writes a buffer that was queued and drawn at ready, taken at taken and shown at seen;
// negative times are not reported.
func (p *phone) draw(layer string, number int64, ready, taken, seen float64) {
	for i, at := range []float64{ready, ready, taken, seen} {
		if at >= 0 {
			p.tell(layer, number, []int64{queue, acquire, latch, present}[i], at)
		}
	}
}

func (p *phone) read(t *testing.T) shown.Trace {
	t.Helper()
	out, err := shown.Read(bytes.NewReader(p.trace), func(layer string) bool { return shown.Of(layer, app) })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ms(f float64) time.Duration { return time.Duration(f * 1e6) }

// describe prints a layer's buffers in short: number:queued/drawn/taken/shown in a unit, - for an
// unknown time, ~ for an estimate, and x for a skipped buffer.
func describe(l shown.Layer, unit time.Duration) string {
	var out []string
	for _, b := range l.Buffers {
		var times []string
		for _, at := range []time.Duration{b.Queued, b.Drawn, b.Taken, b.Shown} {
			if at == shown.None {
				times = append(times, "-")
			} else {
				times = append(times, fmt.Sprint(int64(at/unit)))
			}
		}
		one := fmt.Sprint(b.Number) + ":" + strings.Join(times, "/")
		if b.Guessed {
			one += "~"
		}
		if b.Passed {
			one += "x"
		}
		out = append(out, one)
	}
	return strings.Join(out, " ")
}

// Missing and repeated events of real traces do not lead to other frames.
func TestBuffersOfALayer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(p *phone)
		want  string
	}{
		"whole": {func(p *phone) {
			p.tell(window, 0, dequeue, 95) // has no meaningful number
			p.draw(window, 1, 100, 108, 124)
			p.draw(window, 2, 117, 125, 141)
		}, "1:100/100/108/124 2:117/117/125/141"},
		"a fence that is told late": {func(p *phone) {
			p.draw(window, 2, 117, 125, 141)
			p.tell(window, 1, present, 124)
			p.tell(window, 1, latch, 108)
			p.tell(window, 1, queue, 100)
		}, "1:100/-/108/124 2:117/117/125/141"},
		"drawn before it is handed over": {func(p *phone) {
			p.tell(window, 1, acquire, 98)
			p.tell(window, 1, queue, 100)
			p.tell(window, 1, latch, 108)
			p.tell(window, 1, present, 124)
		}, "1:100/98/108/124"},
		"a lost QUEUE": {func(p *phone) {
			p.tell(window, 1, latch, 108)
			p.tell(window, 1, present, 124)
		}, "1:-/-/108/124"},
		"the last ones of a layer": {func(p *phone) {
			p.draw(window, 1, 100, 108, 124)
			p.draw(window, 2, 117, 125, -1)
			p.draw(window, 3, 134, -1, -1)
		}, "1:100/100/108/124 2:117/117/125/141~ 3:134/134/-/-"},
		"a display without fences": {func(p *phone) {
			p.draw(window, 1, 100, 108, -1)
			p.draw(window, 2, 117, 125, -1)
		}, "1:100/100/108/108~ 2:117/117/125/125~"},
		"one that a newer one passed": {func(p *phone) {
			p.draw(window, 1, 100, 108, 124)
			p.draw(window, 2, 110, -1, -1)
			p.draw(window, 3, 117, 125, 141)
		}, "1:100/100/108/124 2:110/110/-/-x 3:117/117/125/141"},
		"taken and shown twice": {func(p *phone) {
			p.draw(window, 1, 100, 108, 124)
			p.tell(window, 1, latch, 125)
			p.tell(window, 1, present, 141)
			p.draw(window, 2, 134, 142, 158)
		}, "1:100/100/108/124 2:134/134/142/158"},
		"another layer of that name": {func(p *phone) {
			p.draw(window, 1, 100, 108, 124)
			p.draw(window, 2, 117, 125, 141)
			p.draw(window, 1, 500, 508, 524)
			p.draw(window, 2, 517, 525, 541)
		}, "1:100/100/108/124 2:117/117/125/141 1:500/500/508/524 2:517/517/525/541"},
		"another one, of which no QUEUE is told": {func(p *phone) {
			p.draw(window, 1, 100, 108, 124)
			p.draw(window, 2, 117, 125, 141)
			p.tell(window, 1, latch, 508)
			p.tell(window, 1, present, 524)
		}, "1:100/100/108/124 2:117/117/125/141 1:-/-/508/524"},
	} {
		p := newPhone()
		c.write(p)
		p.draw("StatusBar#75", 1, 100, 108, 124)
		p.draw("com.example.demo.other/.Main#0", 1, 100, 108, 124)
		got := p.read(t)
		if len(got.Layers) != 1 || describe(got.Layers[0], time.Millisecond) != c.want || got.Lost > 0 || !got.Written {
			t.Errorf("%s: %d layers, %d lost\n%s\nwant\n%s", name, len(got.Layers), got.Lost, describe(got.Layers[0], time.Millisecond), c.want)
		}
	}
}

func TestOfLayerNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"com.example.demo/com.example.demo.MainActivity#0":                     true,
		"com.example.demo/.MainActivity#123":                                   true,
		"SurfaceView - com.example.demo/com.example.demo.MainActivity#0":       true,
		"SurfaceView[com.example.demo/com.example.demo.MainActivity](BLAST)#9": true,
		"56d18fd com.example.demo/com.example.demo.MainActivity#0":             true,
		"com.example.demo.test/com.example.demo.test.Main#0":                   false,
		"com.example.demonstration/.Main#0":                                    false,
		"org.com.example.demo/.Main#0":                                         false,
		"Splash Screen com.example.demo#5":                                     false,
		"StatusBar#75":                                                         false,
		"com.google.android.apps.nexuslauncher/.NexusLauncherActivity#12":      false,
		"": false,
	} {
		if shown.Of(name, app) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	if shown.Of("/x", "") {
		t.Error("a layer of no package")
	}
}

// short prints a layer's frames: the duration of each in ms, - for none, ! if it was late, !! if
// that was the app's fault.
func short(list []jank.Frame) string {
	var out []string
	for _, f := range list {
		one := "-"
		if f.Took != jank.Unknown {
			one = fmt.Sprintf("%.1f", float64(f.Took)/1e6)
		}
		if f.Due && f.Over > 0 {
			one += "!"
		}
		if f.Janky {
			one += "!"
		}
		out = append(out, one)
	}
	return strings.Join(out, " ")
}

// vsync returns the time of the n-th vsync, on a display of 60 Hz, in ms.
func vsync(n float64) float64 { return 1000 + n*1000/60 }

// at draws a buffer that is shown at a vsync, taken one before, and ready some ms before that.
func (p *phone) at(layer string, number int64, n, ready float64) {
	p.draw(layer, number, vsync(n-1)-ready, vsync(n-1), vsync(n))
}

func TestLateFrames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		layer  string
		write  func(p *phone)
		events []float64 // in vsyncs
		want   string
	}{
		"one that was not ready": {window, func(p *phone) {
			p.at(window, 1, 10, 5)
			p.at(window, 2, 11, 5)
			p.at(window, 3, 13, 5)
			p.at(window, 4, 14, 5)
		}, nil, "- 16.7 33.3!! 16.7"},
		"one that was, and the compositor or the display was late": {window, func(p *phone) {
			p.at(window, 1, 10, 5)
			p.at(window, 2, 11, 5)
			p.at(window, 3, 13, 18)
		}, nil, "- 16.7 33.3!"},
		"after a longer pause": {window, func(p *phone) {
			p.at(window, 1, 10, 5)
			p.at(window, 2, 60, 5)
			p.at(window, 3, 61, 5)
		}, nil, "- - 16.7"},
		"after an event, at rest": {window, func(p *phone) {
			p.at(window, 1, 10, 5)
			p.at(window, 2, 11, 5)
			p.at(window, 3, 31, 5)
		}, []float64{20}, "- 16.7 -"},
		"after an event, while it moves": {window, func(p *phone) {
			p.at(window, 1, 10, 5)
			p.at(window, 2, 11, 5)
			p.at(window, 3, 31, 5)
		}, []float64{12}, "- 16.7 333.3!!"},
		"a film of 30 frames a second, and one of them late": {video, func(p *phone) {
			for i := range 20 {
				p.at(video, int64(i+1), float64(10+2*i), 5)
			}
			p.at(video, 21, 52, 5)
		}, nil, "-" + strings.Repeat(" 33.3", 19) + " 66.7!!"},
		"a film of 24 frames a second": {video, func(p *phone) {
			for i := range 20 {
				p.at(video, int64(i+1), float64(10+i/2*5+i%2*2), 5)
			}
		}, nil, "-" + strings.Repeat(" 33.3 50.0", 9) + " 33.3"},
		"a window is drawn at each vsync": {window, func(p *phone) {
			for i := range 6 {
				p.at(window, int64(i+1), float64(10+2*i), 5)
			}
		}, nil, "-" + strings.Repeat(" 33.3!!", 5)},
		"one that was passed over": {video, func(p *phone) {
			p.at(video, 1, 10, 5)
			p.draw(video, 2, vsync(9.2), -1, -1)
			p.at(video, 3, 11, 5)
		}, nil, "- - 16.7"},
	} {
		p := newPhone()
		c.write(p)
		trace := p.read(t)
		var events []time.Duration
		for _, n := range c.events {
			events = append(events, ms(vsync(n)))
		}
		got := trace.Layers[0].Frames(16_666_666, events)
		if short(got) != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, short(got), c.want)
		}
	}
}

// A display that reported 60 Hz at rest, on which frames were drawn for 120 Hz.
func TestPeriodOfTheFrames(t *testing.T) {
	t.Parallel()
	p := newPhone()
	for i := range 20 {
		p.draw(window, int64(i+1), 100+float64(i)*1000/120, 104+float64(i)*1000/120, 112+float64(i)*1000/120)
	}
	got := p.read(t)
	if period := got.Period(16_666_666); period != ms(1000.0/120) && period.Round(time.Microsecond) != 8333*time.Microsecond {
		t.Errorf("a period of %v", period)
	}
	film := newPhone()
	for i := range 20 {
		film.at(video, int64(i+1), float64(10+2*i), 5)
	}
	if period := film.read(t).Period(16_666_666); period != 16_666_666 {
		t.Errorf("a film's period is %v", period)
	}
}

// Gaps in the record are counted.
func TestLossesAreCounted(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.draw(window, 1, 100, 108, 124)
	p.packet(130, message(nil).Num(field.BufferType, latch).Text(field.BufferLayerName, window), nil) // without a number
	p.packet(131, message(nil).Num(field.BufferType, dequeue).Text(field.BufferLayerName, window), nil)
	p.packet(140, message(nil).Num(field.BufferType, latch).Num(field.BufferFrameNumber, 2).Text(field.BufferLayerName, window),
		message(nil).Num(field.PacketPreviousPacketDropped, 1))
	if got := p.read(t); got.Lost != 2 || describe(got.Layers[0], time.Millisecond) != "1:100/100/108/124 2:-/-/140/156~" {
		t.Errorf("%d lost; %s", got.Lost, describe(got.Layers[0], time.Millisecond))
	}
	if got := newPhone().read(t); got.Written || len(got.Layers) > 0 {
		t.Errorf("%+v of a trace without a word of buffers", got)
	}
	clockless := &phone{}
	clockless.draw(window, 1, 100, 108, 124)
	clockless.trace = bytes.ReplaceAll(clockless.trace, message(nil).Num(field.PacketTimestampClockID, 3), message(nil).Num(field.PacketTimestampClockID, 64))
	if _, err := shown.Read(bytes.NewReader(clockless.trace), func(string) bool { return true }); !errors.Is(err, shown.ErrNoClock) {
		t.Errorf("a trace whose clock nothing leads from: %v", err)
	}
}

// TestLayersAreBounded has more layers than the limit: the rest is counted.
func TestLayersAreBounded(t *testing.T) {
	t.Parallel()
	p := newPhone()
	for i := range shown.MaxLayers + 3 {
		p.tell(fmt.Sprintf("%s/.Main#%d", app, i), 1, latch, 100)
	}
	p.tell(app+"/"+strings.Repeat("x", 5000), 1, latch, 100)
	if got := p.read(t); len(got.Layers) != shown.MaxLayers || got.Lost != 4 {
		t.Errorf("%d layers, %d lost", len(got.Layers), got.Lost)
	}
}

// TestPerfettosOwnTest reads the input of a test of Perfetto's authors, in which much is missing.
// The times, in ns, are those of frame_slice in Perfetto's own result.
func TestPerfettosOwnTest(t *testing.T) {
	t.Parallel()
	path := corpustest.Path(t, "perfetto", "diff_tests_generated", "parser-graphics__graphics_frame_events.pftrace")
	got := corpustest.Read(t, path, func(r io.Reader) (shown.Trace, error) { // with clocks, which it lacks, that show the same
		clock := func(id int64) message {
			return message(nil).Num(field.ClockClockID, id).Num(field.ClockTimestamp, 1)
		}
		clocks := message(nil).In(field.TracePacket, message(nil).In(field.PacketClockSnapshot,
			message(nil).In(field.ClockSnapshotClocks, clock(6)).In(field.ClockSnapshotClocks, clock(3))))
		return shown.Read(io.MultiReader(bytes.NewReader(clocks), r), func(string) bool { return true })
	})
	want := map[string]string{
		"layer1": "11:4/6/8/14 13:-/-/-/24 21:34/-/-/- 22:41/46/-/- 26:75/79/-/- 30:83/-/-/-",
		"layer2": "12:9/8/11/16 24:-/59/61/66~ 35:92/-/-/-",
	}
	if len(got.Layers) != len(want) {
		t.Errorf("%d layers", len(got.Layers))
	}
	for _, l := range got.Layers {
		if describe(l, time.Nanosecond) != want[l.Name] {
			t.Errorf("%s: %s, want %s", l.Name, describe(l, time.Nanosecond), want[l.Name])
		}
	}
}

// The buffers of any trace are consistent.
func FuzzRead(f *testing.F) {
	p := newPhone()
	for i := range 5 {
		p.at(window, int64(i+1), float64(10+i*i), 5)
		p.at(video, int64(i+1), float64(10+i), 5)
	}
	p.tell(window, 2, latch, 2000)
	p.tell(window, 1, queue, 2100)
	f.Add([]byte(p.trace), int64(16_666_666), int64(1_200_000_000))
	f.Fuzz(func(t *testing.T, raw []byte, period, event int64) {
		trace, err := shown.Read(bytes.NewReader(raw), func(string) bool { return true })
		if err != nil {
			return
		}
		display := trace.Period(time.Duration(1 + uint64(period)%uint64(time.Second)))
		for _, l := range trace.Layers {
			frames := l.Frames(display, []time.Duration{time.Duration(event)})
			if len(frames) != len(l.Buffers) || len(frames) == 0 {
				t.Fatalf("%d frames of %d buffers", len(frames), len(l.Buffers))
			}
			for i, one := range frames {
				if one.At < 0 || one.Took != jank.Unknown && (one.Took <= 0 || one.Took > shown.Still+display) || one.Janky && !(one.Due && one.Over > 0) || i > 0 && one.At < frames[i-1].At {
					t.Fatalf("frame %d: %+v", i, one)
				}
			}
		}
	})
}
