package tracedtasks

import (
	"time"

	readers "github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
	"github.com/apkgate/apkgate/trace/tasks"
)

// CoroutinesSource is the word for androidx.tracing's file in records.
const CoroutinesSource = "androidx-tracing"

// coroutines reads the file that androidx.tracing 2.0 writes in the app (TraceSink.kt): track
// events on the tracks of its threads, without a snapshot of clocks. Each section of a coroutine
// has the flow of the coroutine, which its children inherit; where it is suspended the section
// ends, and where it is resumed another one begins (TraceTokens.kt, SliceTrack.kt). So a task is
// the work between two suspensions. What resumed it, and when, is not written: a task has no
// scheduling, and its sender is the thread that worked on its flow before.
//
// Its times are System.nanoTime, which is CLOCK_MONOTONIC on Android (ClockSource.android.kt): a
// file of its own needs no snapshot, as the system's trace does.
type coroutines struct {
	file    *packets.File
	tracker *threads.Tracker
	tracks  *trackevent.Tracks
	all     []coroutine
	open    nest[uint64]     // of tracks
	last    map[uint64]int32 // the last section of a flow, in all
	names   tasks.Names
	dropped int
	cut     int
}

// coroutine is a task on a track.
type coroutine struct {
	tasks.Task
	track  uint64
	before int32 // the section of its flow before, -1 without
}

func newCoroutines(t *trace) source {
	return &coroutines{file: t.file, tracker: t.tracker, tracks: trackevent.New(t.file, t.tracker), open: nest[uint64]{}, last: map[uint64]int32{}}
}

// Wants returns track events and what describes them.
func (c *coroutines) Wants() packets.Wants {
	w := c.tracks.Wants()
	w.Packets = append(w.Packets, field.PacketTrackEvent)
	w.Interned = append(w.Interned, trackevent.Interned(false)...)
	return w
}

// Packet reads a description of a track or an event.
func (c *coroutines) Packet(p packets.Packet) {
	if p.Kind != field.PacketTrackEvent {
		c.tracks.Packet(p)
		return
	}
	stamp, ok := c.tracks.Stamp(p)
	if !ok {
		return
	}
	e, ok := c.tracks.Read(p)
	at, placed := c.file.Time(stamp)
	if !ok || !placed {
		return
	}
	if p.AfterGap() {
		c.dropped++
	}
	// Each thread's events are written in batches.
	c.file.Defer(at, len(e.Name)+8*len(e.Flows), func() { c.event(e, at) })
}

func (c *coroutines) event(e trackevent.Event, at time.Duration) {
	switch e.Kind {
	case trackevent.Begin:
		if !c.open.begin(e.Track, c.begin(e, at)) {
			c.cut++
		}
	case trackevent.End:
		if i := c.open.end(e.Track); i >= 0 {
			c.all[i].Done = at
		}
	}
}

// begin returns the task that a section begins, -1 for one within another, or of no coroutine.
func (c *coroutines) begin(e trackevent.Event, at time.Duration) int32 {
	for _, outer := range c.open[e.Track] {
		if outer >= 0 {
			if one := &c.all[outer]; one.Inside == "" {
				one.Inside = c.names.Of(e.Name)
			}
			return -1
		}
	}
	if len(e.Flows) == 0 {
		return -1
	}
	if len(c.all) == maxTasks {
		c.cut++
		return -1
	}
	before, ok := c.last[e.Flows[0]]
	if !ok {
		before = -1
	}
	place := int32(len(c.all))
	c.last[e.Flows[0]] = place
	c.all = append(c.all, coroutine{
		Task:  tasks.Task{Name: c.names.Of(e.Name), Scheduled: tasks.Unknown, Started: at, Done: tasks.Unknown},
		track: e.Track, before: before,
	})
	return place
}

// list lists the tasks of an app's own file.
func (c *coroutines) list(t *trace) tasks.List {
	out := tasks.List{Source: CoroutinesSource, LeftOut: c.cut}
	if t.convert != nil { // by a snapshot of clocks: the trace is the system's
		return out
	}
	units := tasks.NewUnits[owned](&out)
	for _, one := range c.all {
		process, name, main := c.thread(one.track)
		if !t.ofApp(process) {
			continue
		}
		unit := onThread(name, main)
		place, ok := units.Of(owned{process, unit.Name}, unit)
		if !ok {
			continue
		}
		task := one.Task
		task.Unit, task.Thread = place, name
		if one.before >= 0 {
			_, task.Sender, _ = c.thread(c.all[one.before].track)
		}
		out.Tasks = append(out.Tasks, task)
	}
	var w readers.Warnings
	c.names.Warn(&w)
	w.Counted(0, c.dropped, "androidx.tracing dropped events %d time: sections may be missing", "androidx.tracing dropped events %d times: sections may be missing")
	w.Addf(0, "androidx.tracing does not write when a coroutine was launched or resumed, only when it went on: how long it waited is not known")
	out.Warnings = w.List()
	return out
}

// thread is the process, by its number, and the name of a track's thread.
func (c *coroutines) thread(track uint64) (process int, name string, main bool) {
	place := c.tracks.Place(track)
	if place == nil || place.Thread < 0 || place.Thread >= len(c.tracker.Threads) {
		return threads.None, "", false
	}
	one := c.tracker.Threads[place.Thread]
	return one.Process, one.Name, one.Main || one.Name == "main"
}
