package tracetest

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// App is the process that draws in Scrolling, by its name and id. Each of its frames takes 8 ms
// from its vsync on: 1 ms until the main thread runs, 4 ms there, 1 ms of which it sleeps until the
// render thread wakes it, and 3 ms on the render thread.
const (
	App    = "com.example.p10"
	AppPID = 10
)

// renderThread is the app's other thread.
const renderThread = AppPID + 1

// scroll writes a quarter of a second of the app's frames.
func (p *phone) scroll(at int64, cpu int) {
	const ms = second / 1000
	x := p.longer
	bundle := Message(nil).Num(field.BundleCPU, int64(cpu))
	event := func(ns, tid int64, kind protowire.Number, data Message) {
		bundle = bundle.In(field.BundleEvent, Message(nil).Num(field.EventTimestamp, ns).Num(field.EventPID, tid).In(kind, data))
	}
	change := func(ns, from, state, to int64) {
		event(ns, from, field.EventSchedSwitch, Message(nil).Num(field.SchedSwitchPrevPID, from).Num(field.SchedSwitchPrevState, state).
			Num(field.SchedSwitchNextPID, to).Num(field.SchedSwitchNextPrio, 120))
	}
	wake := func(ns, tid, by int64) {
		event(ns, by, field.EventSchedWaking, Message(nil).Num(field.SchedWakingPID, tid).Num(field.SchedWakingPrio, 120))
	}
	line := func(ns, tid int64, text string) {
		event(ns, tid, field.EventPrint, Message(nil).Text(field.PrintBuf, text+"\n"))
	}
	for i := range p.rate / 4 {
		p.token++
		ns := at + i*second/p.rate
		begin := func(after, tid int64, name string) { line(ns+after, tid, fmt.Sprintf("B|%d|%s", AppPID, name)) }
		end := func(after, tid int64) { line(ns+after, tid, fmt.Sprintf("E|%d", AppPID)) }
		wake(ns+ms, AppPID, 0)
		change(ns+ms, 0, 0, AppPID)
		begin(ms, AppPID, fmt.Sprint("Choreographer#doFrame ", p.token))
		begin(ms+ms/2, AppPID, "traversal")
		begin(2*ms, AppPID, "measure")
		end(3*ms+x, AppPID)
		wake(4*ms+x+ns, renderThread, AppPID)
		change(ns+x+4*ms, AppPID, 1, renderThread)
		begin(4*ms+x, renderThread, fmt.Sprint("DrawFrames ", p.token))
		wake(ns+x+5*ms, AppPID, renderThread)
		change(ns+x+5*ms, renderThread, 0, AppPID)
		end(5*ms+x, AppPID)
		end(5*ms+x, AppPID)
		change(ns+x+5*ms+ms/2, AppPID, 1, renderThread)
		end(8*ms+x, renderThread)
		change(ns+x+8*ms, renderThread, 1, 0)
		p.timeline(ns, ns+p.due(), ns+x+8*ms)
	}
	p.put(Message(nil).In(field.PacketFtraceEvents, bundle))
}

// due is when a frame is due, after its vsync: at the next one, or for Scroll at that of a screen
// of 60 Hz.
func (p *phone) due() int64 {
	if p.apart {
		return second / 60
	}
	return second / p.rate
}

// Scroll is a second in which App draws 40 frames on a screen of 60 Hz without interference, each
// as in Scrolling except that its main thread measures for longer, up to 15 ms: from 9 ms on it is
// late.
type Scroll struct{ Longer time.Duration }

// Write writes the trace.
func (s Scroll) Write(w io.Writer) error {
	p := &phone{out: bufio.NewWriter(w), rate: 40, longer: s.Longer.Nanoseconds(), apart: true}
	p.begin()
	for at := range int64(4) {
		p.scroll(second+at*second/4, 0)
	}
	if p.err != nil {
		return p.err
	}
	return p.out.Flush()
}

// timeline writes the expected and the actual frame of the app.
func (p *phone) timeline(vsync, due, done int64) {
	put := func(at int64, m Message) {
		p.put(Message(nil).Num(field.PacketTimestamp, at).Num(field.PacketTrustedPacketSequenceID, 7).In(field.PacketFrameTimelineEvent, m))
	}
	jank, present := int64(1), int64(1) // none, and on time
	if done > due {
		jank, present = 64, 2 // AppDeadlineMissed, and late
	}
	const other = 1 << 40 // cookies of the display's frames begin at 1
	expected := Message(nil).Num(field.ExpectedSurfaceCookie, other+2*p.token).Num(field.ExpectedSurfaceToken, p.token).
		Num(field.ExpectedSurfaceDisplayFrameToken, p.token).Num(field.ExpectedSurfacePID, AppPID)
	actual := Message(nil).Num(field.ActualSurfaceCookie, other+2*p.token+1).Num(field.ActualSurfaceToken, p.token).
		Num(field.ActualSurfaceDisplayFrameToken, p.token).Num(field.ActualSurfacePID, AppPID).Text(field.ActualSurfaceLayerName, "TX - "+App+"/.Main#1").
		Num(field.ActualSurfaceJankType, jank).Num(field.ActualSurfacePresentType, present).Num(field.ActualSurfaceIsBuffer, 1)
	put(vsync, Message(nil).In(field.FrameExpectedSurfaceFrameStart, expected))
	put(due, Message(nil).In(field.FrameFrameEnd, Message(nil).Num(field.FrameEndCookie, other+2*p.token)))
	put(vsync, Message(nil).In(field.FrameActualSurfaceFrameStart, actual))
	put(done, Message(nil).In(field.FrameFrameEnd, Message(nil).Num(field.FrameEndCookie, other+2*p.token+1)))
}
