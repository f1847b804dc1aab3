package slices

import (
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// rootKey is the id of Chrome's older events that are on no described track: the first name that it
// comes with is its track's.
type rootKey struct {
	process int
	id      uint64
}

// writerOf returns the thread and the process of an event, None if there is none.
func (r *Reader) writerOf(e *trackevent.Event) (thread, process int) {
	if e.Writer {
		thread = r.threads.Belongs(e.TID, e.PID)
		return thread, r.threads.Threads[thread].Process
	}
	place := r.events.Place(e.Track)
	switch {
	case e.Track == 0 || place == nil:
		return None, None
	case place.Thread != None:
		return place.Thread, r.threads.Threads[place.Thread].Process
	}
	return None, place.Process
}

// trackOf returns the track of an event; false if there is none.
func (r *Reader) trackOf(e *trackevent.Event) (int32, bool) {
	if !e.Writer && !e.OnThread && e.Async == nil && e.Scope == 0 {
		return r.described(e.Track, e.Name), true
	}
	thread, process := r.writerOf(e)
	global := Track{Thread: None, Process: None}
	switch {
	case e.OnThread && thread == None:
		return None, false
	case e.Async != nil:
		return r.asyncTrack(e, process)
	case e.Scope == trackevent.ScopeGlobal:
		global.Type = "legacy_chrome_global_instants"
		return r.track(global), true
	case e.Scope == trackevent.ScopeProcess && process == None:
		return None, false
	case e.Scope == trackevent.ScopeProcess:
		global.Type, global.Process = "chrome_process_instant", process
		return r.track(global), true
	case e.Writer:
		return r.track(Track{Type: "thread_execution", Thread: thread, Process: None}), true
	}
	return r.described(e.Track, e.Name), true
}

// asyncTrack returns the track of an event that has its own, by its id.
func (r *Reader) asyncTrack(e *trackevent.Event, process int) (int32, bool) {
	t := Track{Type: "legacy_async_global_slice", Thread: None, Process: None, Number: uint64(r.intern(e.Async.Scope))}
	root := rootKey{None, e.Async.ID}
	if e.Async.Local {
		if process == None {
			return None, false
		}
		t.Type, t.Process, root.process = "legacy_async_process_slice", process, process
	}
	name, known := r.roots[root]
	if !known && r.file.Room("numbers of events", len(r.roots), maxTracks) {
		name = r.Names[r.intern(e.Name)]
		r.roots[root] = name
	}
	t.Name = name
	one := r.lane(int64(e.Async.ID), t)
	if one == nil {
		return None, true
	}
	switch e.Kind {
	case trackevent.Begin:
		one.open++
	case trackevent.End:
		one.open = max(one.open-1, 0)
	}
	return one.track, true
}

// bind adds the flow that an older event is bound to.
func (r *Reader) bind(slice int32, e trackevent.Event) {
	_, known := r.steps[e.Bound]
	switch e.Direction {
	case trackevent.FlowOut:
		if !known && r.file.Room("flows on their way", len(r.steps), MaxRows) {
			r.steps[e.Bound] = slice
		}
	case trackevent.FlowInOut:
		if known {
			r.lead(e.Bound, slice)
			r.steps[e.Bound] = slice
		}
	case trackevent.FlowIn:
		r.lead(e.Bound, slice)
	}
}
