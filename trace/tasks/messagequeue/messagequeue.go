// Package messagequeue reads from a Perfetto trace the messages of an app's loopers as asynchronous
// tasks: the category mq of track events, which processes write that have registered with Perfetto
// (Android 16, behind the flag perfetto_sdk_tracing_v2; android.os.MessageQueue.incAndTraceMessageCount
// and Looper.loopOnce).
//
// It owns how sends and receives make tasks. The units are the receiving threads. There is no stack
// and no class in these events, and a removed message has a send alone: neither is told.
//
//   - message_queue_send, an instant of the sending thread: a flow, and in extension 2004 the name of
//     the receiving thread, the message's code and its delay.
//   - message_queue_receive, a slice of the receiving thread around what the message does: it ends
//     the flow, and has the name of the sending thread.
//
// The number of a flow is a counter of 32 bits of its process, which wraps, mixed with the id of the
// process's track: the latest send counts.
package messagequeue

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
	"github.com/apkgate/apkgate/trace/tasks"
)

// Source is the word for this source in records.
const Source = "mq"

// Limits of what is kept besides tasks.
const (
	maxMessages = tasks.MaxTasks / 4 // some 15 minutes of a busy app
	maxThreads  = 10_000
	maxNested   = 512 // slices within a message
	maxShared   = 10_000
)

// Read reads the tasks of the processes for which of is true, or of all if of is nil, on
// CLOCK_MONOTONIC if the trace has it. A trace without such events has no tasks. It returns an error
// only where reading fails.
func Read(in packets.Source, of func(pid int) bool) (tasks.List, error) {
	f := packets.New()
	r := &reader{file: f, threads: threads.New(f), of: of, sent: map[flow]int{}, open: map[int]*handling{}, names: map[string]string{}}
	r.events = trackevent.New(f, r.threads)
	if err := in(f, r.threads, r); err != nil {
		return tasks.List{}, err
	}
	return r.list(), nil
}

// flow identifies a message on its way.
type flow struct {
	process int // in the tracker's Processes
	id      uint64
}

// message is a message as far as it was recorded.
type message struct {
	sent, received, done time.Duration // on the trace's own clock, tasks.Unknown if not recorded
	delay                time.Duration
	code                 int32
	coded                bool   // code is known
	sender, receiver     string // names in Java, "" if unknown
	process              int
	thread               int    // that received it, trackevent.None if none did
	inside               string // the longest slice directly within it
}

// handling is the messages that a thread is handling, each inside the one before, and the slices
// within.
type handling struct {
	stack []frame
}

// frame is an open slice of a thread.
type frame struct {
	message int // in reader.messages, -1 for another slice
	kernel  bool
	name    string
	at      time.Duration
	longest time.Duration // of the slices directly within a message
}

type reader struct {
	file    *packets.File
	threads *threads.Tracker
	events  *trackevent.Tracks
	of      func(pid int) bool

	messages []message
	sent     map[flow]int // in messages
	open     map[int]*handling
	names    map[string]string // of threads
	leftOut  int
	any      bool // an event of the category was there
}

// Wants returns track events and the kernel's record of what threads write.
func (r *reader) Wants() packets.Wants {
	return packets.Wants{
		Packets: append(trackevent.Descriptions(), field.PacketTrackEvent), Interned: trackevent.Interned(false),
		Events: []protowire.Number{field.EventPrint},
	}
}

// Names of the category and its events.
const (
	category = "mq"
	sends    = "message_queue_send"
	receives = "message_queue_receive"
)

// Packet reads a track event, which counts once earlier events were read.
func (r *reader) Packet(p packets.Packet) {
	if r.events.Describe(p) || p.Kind != field.PacketTrackEvent || p.Machine != r.file.Home {
		return
	}
	stamp, timed := r.events.Stamp(p)
	e, ok := r.events.Read(p)
	if !ok || !timed || e.Kind != trackevent.Begin && e.Kind != trackevent.End && e.Kind != trackevent.Instant {
		return
	}
	at, ok := r.file.Time(stamp)
	if !ok {
		return
	}
	var m messages.MessageQueue
	ours := e.Category == category && (e.Name == sends || e.Name == receives)
	if ours {
		m = messages.MessageQueueOf(messages.TrackEventOf(p.Data).MessageQueue)
	} else if e.Kind == trackevent.Instant {
		return
	}
	about := message{
		sent: tasks.Unknown, received: tasks.Unknown, done: tasks.Unknown, thread: trackevent.None,
		sender: packets.Name(m.SendingThreadName), receiver: packets.Name(m.ReceivingThreadName), code: m.MessageCode, delay: delayOf(m.MessageDelayMS),
	}
	r.file.Defer(at, len(e.Name)+len(about.sender)+len(about.receiver), func() { r.event(at, e, ours, about) })
}

// delayOf returns a delay. One below 0 is of a message that was due before it was sent; a phone
// writes it as a large number.
func delayOf(ms uint64) time.Duration {
	if ms > uint64(math.MaxInt64/time.Millisecond) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// event reads an event in its order.
func (r *reader) event(at time.Duration, e trackevent.Event, ours bool, about message) {
	thread, process := r.place(e)
	if thread == trackevent.None || process == trackevent.None || r.of != nil && !r.of(int(r.threads.Processes[process].PID)) {
		return
	}
	about.process = process
	switch {
	case e.Kind == trackevent.End:
		r.end(at, thread, false)
	case e.Kind == trackevent.Begin && ours && e.Name == receives:
		r.any = true
		r.begin(thread, frame{message: r.receive(at, thread, e, about), at: at})
	case e.Kind == trackevent.Begin:
		r.begin(thread, frame{message: -1, name: e.Name, at: at})
	case ours && e.Name == sends:
		r.any = true
		about.sent, about.coded = at, true
		about.sender = r.javaName(thread)
		if i := r.add(about); i >= 0 && len(e.Flows) > 0 {
			r.sent[flow{process, e.Flows[0]}] = i
		}
	}
}

// place returns the thread of an event, and the thread's process.
func (r *reader) place(e trackevent.Event) (thread, process int) {
	if e.Track == 0 && e.Writer {
		thread = r.threads.Belongs(e.TID, e.PID)
	} else {
		place := r.events.Place(e.Track)
		if place == nil || place.Thread == trackevent.None || !place.Own {
			return trackevent.None, trackevent.None
		}
		thread = place.Thread
	}
	return thread, r.threads.Threads[thread].Process
}

// add adds a message; it returns -1 if there are too many.
func (r *reader) add(m message) int {
	if len(r.messages) >= maxMessages {
		r.leftOut++
		return -1
	}
	m.sender, m.receiver = r.share(m.sender), r.share(m.receiver)
	r.messages = append(r.messages, m)
	return len(r.messages) - 1
}

// share returns an equal name that others have too: threads are few.
func (r *reader) share(name string) string {
	if one, known := r.names[name]; known {
		return one
	}
	if len(r.names) < maxShared {
		r.names[name] = name
	}
	return name
}

// receive returns the message that a thread begins to handle: the one whose flow ends there, or one
// that was sent before the recording.
func (r *reader) receive(at time.Duration, thread int, e trackevent.Event, about message) int {
	about.received, about.thread = at, thread
	if len(e.Ends) > 0 {
		key := flow{about.process, e.Ends[0]}
		if i, known := r.sent[key]; known {
			delete(r.sent, key)
			m := &r.messages[i]
			m.received, m.thread = at, thread
			if about.sender != "" {
				m.sender = r.share(about.sender)
			}
			return i
		}
	}
	return r.add(about)
}

// begin begins a slice of a thread.
func (r *reader) begin(thread int, f frame) {
	h := r.open[thread]
	if h == nil {
		if f.message < 0 && f.kernel || len(r.open) >= maxThreads {
			return // it is within no message
		}
		h = &handling{}
		r.open[thread] = h
	}
	if len(h.stack) < maxNested {
		h.stack = append(h.stack, f)
	} else {
		r.file.TooMany["nested slices"]++
	}
}

// end ends the innermost slice of a thread that came from the kernel's record, or not; what is still
// open within it ends with it.
func (r *reader) end(at time.Duration, thread int, kernel bool) {
	h := r.open[thread]
	if h == nil {
		return
	}
	i := len(h.stack) - 1
	for i >= 0 && h.stack[i].kernel != kernel {
		if kernel && h.stack[i].message >= 0 {
			return // its beginning is not within the message
		}
		i--
	}
	if i < 0 {
		return
	}
	for j := len(h.stack) - 1; j >= i; j-- {
		r.close(at, h.stack[:j+1])
	}
	if h.stack = h.stack[:i]; i == 0 {
		delete(r.open, thread)
	}
}

// close ends the last of a stack of slices.
func (r *reader) close(at time.Duration, stack []frame) {
	f := &stack[len(stack)-1]
	if f.message >= 0 {
		r.messages[f.message].done = at
	}
	if len(stack) < 2 {
		return
	}
	above, long := &stack[len(stack)-2], at-f.at
	if above.message >= 0 && f.message < 0 && long > above.longest && !tasks.Contention(f.name) {
		above.longest, r.messages[above.message].inside = long, f.name
	}
}

// Event reads what a thread writes to the kernel's record while it handles a message.
func (r *reader) Event(e *packets.Event) {
	if len(r.open) == 0 || e.TID < 0 {
		return
	}
	p, ok := atrace.Of(e)
	if !ok || p.Phase != 'B' && p.Phase != 'E' {
		return
	}
	thread := r.threads.Of(e.TID)
	switch h := r.open[thread]; {
	case h == nil:
	case p.Phase == 'B':
		r.begin(thread, frame{message: -1, kernel: true, name: p.Name, at: e.At})
	default:
		r.end(e.At, thread, true)
	}
}

// javaName returns the name of a thread in Java as far as it is known: of another thread than the
// main one the kernel's, at most 15 bytes.
func (r *reader) javaName(thread int) string {
	if r.isMain(thread) {
		return mainName
	}
	return r.threads.Threads[thread].Name
}

func (r *reader) isMain(thread int) bool {
	t := r.threads.Threads[thread]
	return t.Process != trackevent.None && t.TID == r.threads.Processes[t.Process].PID
}
