package tracetest

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// Rows generates a trace with Number rows of each kind that tables list one by one: frames, entries
// of the log, transactions of binder, requests of a block device, and slices with two arguments.
// Row i begins in step i, and ends in step i + Lag; every second frame and log entry precedes the
// one that it comes after. Number is even, and more than Lag.
type Rows struct{ Number, Lag int }

// The times of rows, in ns: step i is at RowsBegin + i*RowsStep, and each kind so long after it.
const (
	RowsBegin = second
	RowsStep  = 10_000

	RowSent, RowTaken, RowAnswers       = 1_000, 2_000, 3_000
	RowIssued, RowDone                  = 5_000, 6_000
	RowSlice, RowSliceEnd               = 7_000, 8_000
	rowWall                       int64 = 1_700_000_000 * second
)

// RowsOf writes a trace of about size bytes, whose rows end 20,000 steps after they begin.
func RowsOf(w io.Writer, size int64) error {
	const lag, bytes = 20_000, 350 // per step
	return Rows{Number: max(int(size/bytes)&^1, lag+2), Lag: lag}.Write(w)
}

// Write writes the trace.
func (r Rows) Write(w io.Writer) error {
	p := &phone{out: bufio.NewWriterSize(w, 1<<20)}
	p.begin()
	clock := func(id, ns int64) Message {
		return Message(nil).Num(field.ClockClockID, id).Num(field.ClockTimestamp, ns)
	}
	const boottime, realtime = 6, 1
	p.put(Message(nil).In(field.PacketClockSnapshot, Message(nil).
		In(field.ClockSnapshotClocks, clock(boottime, second)).In(field.ClockSnapshotClocks, clock(realtime, second+rowWall))))
	p.put(Message(nil).Num(field.PacketTrustedPacketSequenceID, 7).Num(field.PacketSequenceFlags, 1))
	var events Message
	for step := range r.Number + r.Lag {
		events = r.kernel(events, step)
		if step%100 == 99 || step == r.Number+r.Lag-1 {
			p.put(Message(nil).In(field.PacketFtraceEvents, slices.Concat(Message(nil).Num(field.BundleCPU, 0), events)))
			events = events[:0]
		}
		if step < r.Number {
			p.rowBegins(step, r.Lag)
		}
		if one := step - r.Lag; one >= 0 {
			p.rowEnds(one, step, r.Lag)
		}
		if p.err != nil {
			return p.err
		}
	}
	return p.out.Flush()
}

func rowAt(step int) int64 { return RowsBegin + int64(step)*RowsStep }

// kernel adds the kernel's events of a step: thread 11 sends, and 21 receives; 11 reads from a
// device. The score of their process rises every 100 steps.
func (r Rows) kernel(events Message, step int) Message {
	at := rowAt(step)
	event := func(ns, tid int64, kind protowire.Number, data Message) {
		events = events.In(field.BundleEvent, Message(nil).Num(field.EventTimestamp, ns).Num(field.EventPID, tid).In(kind, data))
	}
	if step%100 == 0 {
		event(at, 11, field.EventOOMScoreAdjUpdate, Message(nil).Num(field.OOMScoreOOMScoreAdj, int64(step/100%1000)).Num(field.OOMScorePID, AppPID))
	}
	const device, sectors, oneWay = 45824, 8, 1
	one := step - r.Lag
	if step < r.Number {
		event(at+RowSent, 11, field.EventBinderTransaction, Message(nil).Num(field.BinderTransactionDebugID, int64(step)).
			Num(field.BinderTransactionToProc, 20).Num(field.BinderTransactionFlags, oneWay))
	}
	if one >= 0 {
		event(at+RowTaken, 21, field.EventBinderTransactionReceived, Message(nil).Num(field.BinderReceivedDebugID, int64(one)))
		event(at+RowAnswers, 21, field.EventPrint, Message(nil).Text(field.PrintBuf, fmt.Sprintf("B|20|AIDL::java::IFoo::m%d::server\n", one%5)))
		event(at+RowAnswers+500, 21, field.EventPrint, Message(nil).Text(field.PrintBuf, "E|20\n"))
	}
	if step < r.Number {
		event(at+RowIssued, 11, field.EventBlockRqIssue, Message(nil).Num(field.BlockRqIssueDev, device).Num(field.BlockRqIssueSector, int64(step)*sectors).
			Num(field.BlockRqIssueNrSector, sectors).Text(field.BlockRqIssueRwbs, "R").Text(field.BlockRqIssueComm, "app"))
	}
	if one >= 0 {
		event(at+RowDone, 0, field.EventBlockRqComplete, Message(nil).Num(field.BlockRqCompleteDev, device).Num(field.BlockRqCompleteSector, int64(one)*sectors).
			Num(field.BlockRqCompleteNrSector, sectors))
	}
	return events
}

// argument is a debug annotation.
func argument(name string) Message { return Message(nil).Text(field.AnnotationName, name) }

// on writes a track event, on a track without an open slice.
func (p *phone) on(ns int64, one, lag int, event Message) {
	p.put(Message(nil).Num(field.PacketTimestamp, ns).Num(field.PacketTrustedPacketSequenceID, 7).Num(field.PacketSequenceFlags, 2).
		In(field.PacketTrackEvent, event.Num(field.TrackEventTrackUUID, 1000+int64(one%(lag+1)))))
}

// rowBegins writes the beginnings of a step's slice, and of the frame and the log entry of the step
// before or after it.
func (p *phone) rowBegins(step, lag int) {
	p.on(rowAt(step)+RowSlice, step, lag, Message(nil).Num(field.TrackEventType, 1).Text(field.TrackEventName, "work").
		In(field.TrackEventDebugAnnotations, argument("n").Num(field.AnnotationIntValue, int64(step))).
		In(field.TrackEventDebugAnnotations, argument("text").Text(field.AnnotationStringValue, fmt.Sprint("text ", step))))
	other := int64(step ^ 1)
	at := rowAt(step ^ 1)
	frame := Message(nil).Num(field.ActualSurfaceCookie, other).Num(field.ActualSurfaceToken, other).Num(field.ActualSurfaceDisplayFrameToken, other).
		Num(field.ActualSurfacePID, AppPID).Text(field.ActualSurfaceLayerName, fmt.Sprint("layer ", other%7)).
		Num(field.ActualSurfaceJankType, 1).Num(field.ActualSurfacePresentType, 1)
	p.put(Message(nil).Num(field.PacketTimestamp, at).In(field.PacketFrameTimelineEvent, Message(nil).In(field.FrameActualSurfaceFrameStart, frame)))
	entry := Message(nil).Num(field.LogEventPID, AppPID).Num(field.LogEventTID, AppPID+1).Num(field.LogEventTimestamp, at+rowWall).
		Text(field.LogEventTag, fmt.Sprint("tag", other%3)).Num(field.LogEventPrio, 4).Text(field.LogEventMessage, fmt.Sprint("line ", other))
	p.put(Message(nil).Num(field.PacketTimestamp, rowAt(step)).In(field.PacketAndroidLog, Message(nil).In(field.AndroidLogEvents, entry)))
}

// rowEnds writes the ends of a row's frame and slice; the slice repeats its number.
func (p *phone) rowEnds(one, step, lag int) {
	p.put(Message(nil).Num(field.PacketTimestamp, rowAt(step)).In(field.PacketFrameTimelineEvent, Message(nil).
		In(field.FrameFrameEnd, Message(nil).Num(field.FrameEndCookie, int64(one)))))
	p.on(rowAt(step)+RowSliceEnd, one, lag, Message(nil).Num(field.TrackEventType, 2).
		In(field.TrackEventDebugAnnotations, argument("n").Num(field.AnnotationIntValue, -int64(one))))
}
