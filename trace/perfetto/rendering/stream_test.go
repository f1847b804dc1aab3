package rendering_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// scroll writes frames 100 ms apart that wait for all kinds of things, and unrelated threads.
func (p *phone) scroll(frames int, told bool) {
	for i := range 20 { // the display's period is known before the first frame
		p.count(500+16*float64(i), "VSYNC-app", i%2)
	}
	for i := range frames {
		at, token := vsync+100*float64(i), int64(10+i)
		p.clock(at-1, 0, 500_000+1000*int64(i))
		p.wake(at+1, ui, flinger)
		p.run(0, ui, at+1, at+3, asleep)
		end := at + 30
		if told {
			p.slice(ui, fmt.Sprint("Choreographer#doFrame ", token), at+1, at+20)
		} else {
			p.count(at, "VSYNC-app", i%2)
			p.slice(ui, "Choreographer#doFrame", at+1, at+20)
		}
		p.slice(ui, "animation", at+1.1, at+15)
		p.call(int64(1000+4*i), ui, peerBinder, at+3, at+3, at+10)
		p.wake(at+3, peerBinder, ui)
		p.run(2, peerBinder, at+3, at+10, asleep)
		p.wake(at+10, ui, peerBinder)
		p.run(0, ui, at+10, at+11, blocked)
		p.event(at+11.5, ui, field.EventBlockRqIssue, message(nil).Num(field.BlockRqIssueDev, 8<<20|int64(i)))
		p.wake(at+14, ui, rival)
		p.run(0, ui, at+14, at+20, asleep)
		p.wake(at+19, render, ui)
		p.run(1, render, at+19, at+25, asleep)
		if told {
			p.slice(render, fmt.Sprint("DrawFrames ", token), at+19, at+25)
		} else {
			p.slice(render, "DrawFrame", at+19, at+25)
		}
		p.count(at+5, "BufferTX - "+layer, 1)
		p.count(at+25, "BufferTX - "+layer, 2)
		p.count(at+27, "BufferTX - "+layer, 1)
		p.slice(gpuThread, fmt.Sprint("waiting for GPU completion ", i), at+25, end)
		for n := range 20 {
			p.slice(rivalWorker, fmt.Sprint("busy ", n%3), at+float64(n)*4, at+float64(n)*4+3)
			p.run(4, rivalWorker, at+float64(n)*4, at+float64(n)*4+3, asleep)
		}
		if told {
			p.shown(token, at, at+16, at+1, end, unknownJank, 5)
		}
	}
}

// What is dropped while a trace is read is not needed by any frame: reading in many small parts
// gives the same result as in one.
func TestForgetKeepsWhatFramesNeed(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} {
		p := newPhone()
		p.scroll(60, told)
		raw := p.bytes()
		whole, err := rendering.Read(packets.Packets(bytes.NewReader(raw)), app)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole.Frames) != 60 || whole.Frames[30].Ready != 1 || whole.Frames[30].Class != run.BufferedFrames || len(whole.Frames[30].Path) < 8 {
			t.Fatalf("%d frames, %+v", len(whole.Frames), whole.Frames[30])
		}
		at := slices.IndexFunc(whole.Frames[30].Path, func(s rendering.Step) bool { return s.Kind == run.WaitIO })
		if at < 0 || whole.Frames[30].Path[at].What != "device 8:30" {
			t.Errorf("%+v", whole.Frames[30].Path)
		}
		for _, rows := range []int{50, 200, 1000} {
			parts, err := rendering.ReadKeeping(packets.Packets(bytes.NewReader(raw)), app, rows)
			if err != nil {
				t.Fatal(err)
			}
			if len(parts.Frames) != len(whole.Frames) || parts.Lost != whole.Lost || !slices.Equal(parts.Warnings, whole.Warnings) {
				t.Fatalf("keeping %d rows: %d frames, %d lost, %v", rows, len(parts.Frames), parts.Lost, parts.Warnings)
			}
			for i := range whole.Frames {
				if a, b := fmt.Sprintf("%+v", whole.Frames[i]), fmt.Sprintf("%+v", parts.Frames[i]); a != b {
					t.Fatalf("keeping %d rows, told %v, frame %d:\n%s\nin one:\n%s", rows, told, i, b, a)
				}
			}
		}
	}
}

// A frame that lasts for longer than what is usually kept has its full path.
func TestForgetKeepsALongFrame(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1002, asleep)
	p.slice(ui, "input", begun, 9000)
	p.call(70, ui, peerBinder, 1002, 1002, 8999)
	p.run(2, peerBinder, 1002, 8999, asleep)
	p.wake(8999, ui, peerBinder)
	p.run(0, ui, 8999, 9000, waiting)
	for n := range 2000 {
		p.run(4, rivalWorker, 1000+4*float64(n), 1003+4*float64(n), asleep)
	}
	p.drawnFrom(9000)
	trace, err := rendering.ReadKeeping(packets.Packets(bytes.NewReader(p.bytes())), app, 100)
	if err != nil {
		t.Fatal(err)
	}
	f := only(t, trace)
	if f.Class != run.FrozenFrames || f.Took != 8007*time.Millisecond {
		t.Errorf("%s, %v", f.Class, f.Took)
	}
	expect(t, "kinds", took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 7, run.WaitBinder: 7997, run.WaitGPU: 2})
}

// Slices that an app writes with Perfetto's SDK count like those of atrace.
func TestSlicesOfPerfettosSDK(t *testing.T) {
	t.Parallel()
	p := newPhone()
	const track, other = 5, 6
	p.put(message(nil).Num(field.PacketTimestamp, ns(0)).Num(field.PacketTrustedPacketSequenceID, 11).In(field.PacketTrackDescriptor, message(nil).Num(field.TrackUUID, track).
		In(field.TrackThread, message(nil).Num(field.ThreadDescriptorPID, ui).Num(field.ThreadDescriptorTID, ui))))
	p.put(message(nil).Num(field.PacketTimestamp, ns(0)).Num(field.PacketTrustedPacketSequenceID, 11).In(field.PacketTrackDescriptor, message(nil).Num(field.TrackUUID, other).
		Num(field.TrackParentUUID, track).Text(field.TrackName, "beside")))
	event := func(at float64, kind int64, track int64, name string) {
		m := message(nil).Num(field.TrackEventType, kind).Num(field.TrackEventTrackUUID, track)
		if name != "" {
			m = m.Text(field.TrackEventName, name)
		}
		p.put(message(nil).Num(field.PacketTimestamp, ns(at)).Num(field.PacketTrustedPacketSequenceID, 11).In(field.PacketTrackEvent, m))
	}
	const begin, end = 1, 2
	event(1002, begin, track, "AndroidOwner:measureAndLayout")
	event(1003, begin, track, "Compose:recompose")
	event(1004, begin, other, "a download") // on a track below the thread's
	event(1008, end, track, "")
	event(1012, end, track, "")
	complete := message(nil).Num(field.LegacyPhase, 'X').Num(field.LegacyDurationUS, 500) // an event with its own duration
	p.put(message(nil).Num(field.PacketTimestamp, ns(1012.25)).Num(field.PacketTrustedPacketSequenceID, 11).In(field.PacketTrackEvent, message(nil).
		Num(field.TrackEventTrackUUID, track).Text(field.TrackEventName, "decode").In(field.TrackEventLegacyEvent, complete)))
	p.run(0, ui, begun, 1013, waiting)
	p.drawnFrom(1013)
	f := only(t, p.read(t))
	expect(t, "slices", took(f.Path, func(s rendering.Step) string { return s.Slice + " in " + s.Stage }), map[string]float64{
		" in ": 2.5, "decode in ": 0.5, " in traversal": 6, "Compose:recompose in traversal": 5, " in draw": 1, " in render": 3, " in gpu": 2,
	})
}
