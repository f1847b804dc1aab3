package slices

import (
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// lanes are the tracks of overlapping slices of a process: each open slice has its own, and a free
// one is reused.
type lanes struct {
	list     []lane
	byCookie map[int64]int
}

type lane struct {
	cookie int64
	open   int
	track  int32
}

// point reads a line of user space or a driver.
func (r *Reader) point(e *packets.Event, p atrace.Point) {
	switch p.Phase {
	case 'B':
		r.begin(e.At, -1, r.own(e.TID), "", p.Name)
	case 'E':
		r.end(e.At, r.own(e.TID), "")
	case 'I':
		r.begin(e.At, 0, r.own(e.TID), "", p.Name)
	case 'S', 'F':
		r.async(e, p, r.processTrack("atrace_async_slice", p.Name, p.PID))
	case 'G', 'H':
		r.async(e, p, r.processTrack("atrace_async_slice_for_track", p.Track, p.PID))
	case 'N':
		t := r.processTrack("atrace_async_slice_for_track", p.Track, p.PID)
		if p.Track == deviceState.Name {
			t = deviceState
		}
		r.begin(e.At, 0, r.track(t), "", p.Name)
	}
}

// deviceState is the track of the device's folding state.
var deviceState = Track{Type: "android_device_state", Name: "DeviceStateChanged", Thread: None, Process: None}

// property reads from an AndroidSystemProperty (android_system_property.proto) how the
// device was folded when the trace began.
func (r *Reader) property(at time.Duration, message []byte) {
	list := messages.SystemPropertyOf(message)
	for property := range list.Values.Each {
		if p := messages.PropertyOf(property); string(p.Name) == "debug.tracing.device_state" {
			r.begin(at, 0, r.track(deviceState), "", packets.Name(p.Value))
		}
	}
}

func (r *Reader) processTrack(kind, name string, pid int32) Track {
	return Track{Type: kind, Name: name, Thread: None, Process: r.threads.OfProcess(pid)}
}

// async begins or ends a slice that may overlap others of its track.
func (r *Reader) async(e *packets.Event, p atrace.Point, t Track) {
	one := r.lane(p.Value, t)
	switch {
	case one == nil:
	case p.Phase == 'F' || p.Phase == 'H':
		one.open = max(one.open-1, 0)
		r.end(e.At, one.track, "")
	default:
		one.open++
		// Some parts of Android begin a slice again that they have not ended: the first beginning
		// counts.
		if p.Phase == 'G' || len(r.stacks[one.track]) == 0 {
			r.begin(e.At, -1, one.track, "", p.Name)
		}
	}
}

// lane returns the lane of a cookie, or else the first free one, or else a new one; nil if there
// are too many.
func (r *Reader) lane(cookie int64, t Track) *lane {
	all := r.lanes[t]
	if all == nil {
		t = r.bounded(t)
		all = r.lanes[t]
	}
	if all == nil {
		if !r.file.Room("tracks of slices", len(r.lanes), MaxRows) {
			return nil
		}
		all = &lanes{byCookie: map[int64]int{}}
		r.lanes[t] = all
	}
	if at, known := all.byCookie[cookie]; known {
		return &all.list[at]
	}
	for i := range all.list {
		if one := &all.list[i]; one.open == 0 {
			delete(all.byCookie, one.cookie)
			one.cookie = cookie
			all.byCookie[cookie] = i
			return one
		}
	}
	if !r.file.Room("slices open under one name", len(all.list), maxLanes) || !r.file.Room("tracks of slices", len(r.Tracks), MaxRows) {
		return nil
	}
	all.byCookie[cookie] = len(all.list)
	all.list = append(all.list, lane{cookie: cookie, track: r.newTrack(t)})
	return &all.list[len(all.list)-1]
}
