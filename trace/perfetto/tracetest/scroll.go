package tracetest

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// App is the process that draws in Scrolling, by its name and number. Each of its frames takes
// 8 ms from its vsync on: 1 ms until the main thread runs, 4 ms there, 1 ms of which it sleeps
// until the render thread wakes it, and 3 ms on the render thread.
const (
	App    = "com.example.p10"
	AppPID = 10
)

// renderThread is the app's other thread.
const renderThread = AppPID + 1

// scroll writes a quarter of a second of the app's frames.
func (p *phone) scroll(at int64, cpu int) {
	const ms = second / 1000
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
		end(3*ms, AppPID)
		wake(4*ms+ns, renderThread, AppPID)
		change(ns+4*ms, AppPID, 1, renderThread)
		begin(4*ms, renderThread, fmt.Sprint("DrawFrames ", p.token))
		wake(ns+5*ms, AppPID, renderThread)
		change(ns+5*ms, renderThread, 0, AppPID)
		end(5*ms, AppPID)
		end(5*ms, AppPID)
		change(ns+5*ms+ms/2, AppPID, 1, renderThread)
		end(8*ms, renderThread)
		change(ns+8*ms, renderThread, 1, 0)
		p.timeline(ns, ns+second/p.rate, ns+8*ms)
	}
	p.put(Message(nil).In(field.PacketFtraceEvents, bundle))
}

// timeline writes what was expected of a frame of the app, and what was.
func (p *phone) timeline(vsync, due, done int64) {
	put := func(at int64, m Message) {
		p.put(Message(nil).Num(field.PacketTimestamp, at).Num(field.PacketTrustedPacketSequenceID, 7).In(field.PacketFrameTimelineEvent, m))
	}
	const other = 1 << 40 // cookies of the display's frames begin at 1
	expected := Message(nil).Num(field.ExpectedSurfaceCookie, other+2*p.token).Num(field.ExpectedSurfaceToken, p.token).
		Num(field.ExpectedSurfaceDisplayFrameToken, p.token).Num(field.ExpectedSurfacePID, AppPID)
	actual := Message(nil).Num(field.ActualSurfaceCookie, other+2*p.token+1).Num(field.ActualSurfaceToken, p.token).
		Num(field.ActualSurfaceDisplayFrameToken, p.token).Num(field.ActualSurfacePID, AppPID).Text(field.ActualSurfaceLayerName, "TX - "+App+"/.Main#1").
		Num(field.ActualSurfaceJankType, 1).Num(field.ActualSurfacePresentType, 1).Num(field.ActualSurfaceIsBuffer, 1)
	put(vsync, Message(nil).In(field.FrameExpectedSurfaceFrameStart, expected))
	put(due, Message(nil).In(field.FrameFrameEnd, Message(nil).Num(field.FrameEndCookie, other+2*p.token)))
	put(vsync, Message(nil).In(field.FrameActualSurfaceFrameStart, actual))
	put(done, Message(nil).In(field.FrameFrameEnd, Message(nil).Num(field.FrameEndCookie, other+2*p.token+1)))
}
