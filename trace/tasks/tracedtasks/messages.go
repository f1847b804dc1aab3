package tracedtasks

import (
	"fmt"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	readers "github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	proto "github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
	"github.com/apkgate/apkgate/trace/tasks"
)

// MessagesSource is the word for messages of loopers in records.
const MessagesSource = "mq"

// messages reads the category mq of track events, which processes write that have registered with
// Perfetto (Android 16, behind the flag perfetto_sdk_tracing_v2;
// android.os.MessageQueue.incAndTraceMessageCount and Looper.loopOnce). The units are the receiving
// threads. There is no stack and no class in these events, and a removed message has a send alone:
// neither is told.
//
//   - message_queue_send, an instant of the sending thread: a flow, and in extension 2004 the name of
//     the receiving thread, the message's code and its delay.
//   - message_queue_receive, a slice of the receiving thread around what the message does: it ends
//     the flow, and has the name of the sending thread.
//
// The number of a flow is a counter of 32 bits of its process, which wraps, mixed with the id of the
// process's track: the latest send counts.
type messages struct {
	file    *packets.File
	threads *threads.Tracker
	events  *trackevent.Tracks
	of      func(pid int) bool

	all   []message
	sent  map[flow]int    // in all
	open  map[int][]frame // slices of threads that handle a message, each within the one before
	names tasks.Names
	cut   int
	any   bool // an event of the category was there
}

// flow identifies a message on its way.
type flow struct {
	process int // in the tracker's Processes
	id      uint64
}

// message is a task, as far as it was recorded. Names are Java's, "" where unknown.
type message struct {
	tasks.Task
	code     int32
	coded    bool // code is known
	receiver string
	process  int
	thread   int // that received it, threads.None if none did
}

// frame is an open slice.
type frame struct {
	message int  // in messages.all, -1 for another slice
	kernel  bool // of the kernel's record
	name    string
	at      time.Duration
	longest time.Duration // of the slices directly within a message
}

func newMessages(t *trace) *messages {
	return &messages{
		file: t.file, threads: t.tracker, events: trackevent.New(t.file, t.tracker), of: t.app.PID,
		sent: map[flow]int{}, open: map[int][]frame{},
	}
}

// Wants returns track events and the kernel's record of what threads write.
func (m *messages) Wants() packets.Wants {
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
func (m *messages) Packet(p packets.Packet) {
	if m.events.Describe(p) || p.Kind != field.PacketTrackEvent || p.Machine != m.file.Home {
		return
	}
	stamp, timed := m.events.Stamp(p)
	e, ok := m.events.Read(p)
	if !ok || !timed {
		return
	}
	at, ok := m.file.Time(stamp)
	ours := e.Category == category && (e.Name == sends || e.Name == receives)
	if !ok || e.Kind != trackevent.Begin && e.Kind != trackevent.End && (e.Kind != trackevent.Instant || !ours) {
		return
	}
	about := message{Task: tasks.Task{Scheduled: tasks.Unknown, Started: tasks.Unknown, Done: tasks.Unknown}, thread: threads.None}
	if ours {
		told := proto.MessageQueueOf(proto.TrackEventOf(p.Data).MessageQueue)
		about.Sender, about.receiver = packets.Name(told.SendingThreadName), packets.Name(told.ReceivingThreadName)
		about.code, about.Delay = told.MessageCode, delayOf(told.MessageDelayMS)
	}
	m.file.Defer(at, len(e.Name)+len(about.Sender)+len(about.receiver), func() { m.event(at, e, ours, about) })
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
func (m *messages) event(at time.Duration, e trackevent.Event, ours bool, about message) {
	thread, process := m.place(e)
	if thread == threads.None || process == threads.None || m.of != nil && !m.of(int(m.threads.Processes[process].PID)) {
		return
	}
	about.process = process
	switch {
	case e.Kind == trackevent.End:
		m.end(at, thread, false)
	case e.Kind == trackevent.Begin && ours && e.Name == receives:
		m.any = true
		m.begin(thread, frame{message: m.receive(at, thread, e, about), at: at})
	case e.Kind == trackevent.Begin:
		m.begin(thread, frame{message: -1, name: e.Name, at: at})
	case ours && e.Name == sends:
		m.any = true
		about.Scheduled, about.coded = at, true
		about.Sender = m.javaName(thread)
		if i := m.add(about); i >= 0 && len(e.Flows) > 0 {
			m.sent[flow{process, e.Flows[0]}] = i
		}
	}
}

// place returns the thread of an event, and the thread's process.
func (m *messages) place(e trackevent.Event) (thread, process int) {
	if e.Track == 0 && e.Writer {
		thread = m.threads.Belongs(e.TID, e.PID)
	} else {
		place := m.events.Place(e.Track)
		if place == nil || place.Thread == threads.None || !place.Own {
			return threads.None, threads.None
		}
		thread = place.Thread
	}
	return thread, m.threads.Threads[thread].Process
}

// add adds a message; it returns -1 if there are too many.
func (m *messages) add(one message) int {
	if len(m.all) >= maxTasks {
		m.cut++
		return -1
	}
	one.Sender, one.receiver = m.names.Of(one.Sender), m.names.Of(one.receiver)
	m.all = append(m.all, one)
	return len(m.all) - 1
}

// receive returns the message that a thread begins to handle: the one whose flow ends there, or one
// that was sent before the recording.
func (m *messages) receive(at time.Duration, thread int, e trackevent.Event, about message) int {
	about.Started, about.thread = at, thread
	if len(e.Ends) > 0 {
		key := flow{about.process, e.Ends[0]}
		if i, known := m.sent[key]; known {
			delete(m.sent, key)
			one := &m.all[i]
			one.Started, one.thread = at, thread
			if about.Sender != "" {
				one.Sender = m.names.Of(about.Sender)
			}
			return i
		}
	}
	return m.add(about)
}

// begin begins a slice of a thread.
func (m *messages) begin(thread int, f frame) {
	stack, handling := m.open[thread]
	switch {
	case !handling && (f.message < 0 && f.kernel || len(m.open) >= maxThreads): // it is within no message
	case len(stack) >= maxDepth:
		m.file.TooMany["nested slices"]++
	default:
		m.open[thread] = append(stack, f)
	}
}

// end ends the innermost slice of a thread that came from the kernel's record, or not; what is still
// open within it ends with it.
func (m *messages) end(at time.Duration, thread int, kernel bool) {
	stack := m.open[thread]
	i := len(stack) - 1
	for ; i >= 0 && stack[i].kernel != kernel; i-- {
		if kernel && stack[i].message >= 0 {
			return // its beginning is not within the message
		}
	}
	if i < 0 {
		return
	}
	for j := len(stack) - 1; j >= i; j-- {
		m.close(at, stack[:j+1])
	}
	if m.open[thread] = stack[:i]; i == 0 {
		delete(m.open, thread)
	}
}

// close ends the last of a stack of slices.
func (m *messages) close(at time.Duration, stack []frame) {
	f := &stack[len(stack)-1]
	if f.message >= 0 {
		m.all[f.message].Done = at
	}
	if len(stack) < 2 {
		return
	}
	above, long := &stack[len(stack)-2], at-f.at
	if above.message >= 0 && f.message < 0 && long > above.longest && !tasks.Contention(f.name) {
		above.longest, m.all[above.message].Inside = long, f.name
	}
}

// Event reads what a thread writes to the kernel's record while it handles a message.
func (m *messages) Event(e *packets.Event) {
	if len(m.open) == 0 || e.TID < 0 {
		return
	}
	p, ok := atrace.Of(e)
	if !ok || p.Phase != 'B' && p.Phase != 'E' {
		return
	}
	thread := m.threads.Of(e.TID)
	if p.Phase == 'E' {
		m.end(e.At, thread, true)
	} else {
		m.begin(thread, frame{message: -1, kernel: true, name: p.Name, at: e.At})
	}
}

// mainName is the name of the main thread in Java.
const mainName = "main"

// javaName returns the name of a thread in Java as far as it is known: of another thread than the
// main one the kernel's, at most 15 bytes.
func (m *messages) javaName(thread int) string {
	if m.isMain(thread) {
		return mainName
	}
	return m.threads.Threads[thread].Name
}

func (m *messages) isMain(thread int) bool {
	t := m.threads.Threads[thread]
	return t.Process != threads.None && t.TID == m.threads.Processes[t.Process].PID
}

// list returns the messages as tasks.
func (m *messages) list(t *trace) tasks.List {
	out := tasks.List{Source: MessagesSource, Tells: tasks.Tells{Capacity: true}, LeftOut: m.cut}
	r := receivers{m, tasks.NewUnits[receiver](&out), &out, map[owned]int{}}
	for _, one := range m.all { // those that know their thread first: others have a name alone
		if one.thread != threads.None && one.receiver != "" {
			r.unit(&one)
		}
	}
	out.LeftOut = m.cut // each message counts once
	for _, one := range m.all {
		if one.barrier() {
			continue
		}
		unit, ok := r.unit(&one)
		if !ok {
			continue
		}
		task := one.Task
		task.Unit, task.Name = unit, one.name()
		if one.thread != threads.None {
			task.Thread = out.Units[unit].Name
		}
		t.place(&task)
		out.Tasks = append(out.Tasks, task)
	}
	if !m.any {
		return out
	}
	var w readers.Warnings
	w.Counted(0, out.LeftOut, "the trace has more tasks than are kept: %d is left out", "the trace has more tasks than are kept: %d are left out")
	m.names.Warn(&w)
	out.Warnings = w.List()
	t.file.Doubts()
	return out
}

// barrier reports whether a message is what Android itself keeps others back with before each frame
// (MessageQueue.postSyncBarrier): it has no handler and is removed. One that the main thread posted
// to itself and removed looks the same.
func (m *message) barrier() bool {
	return m.Started == tasks.Unknown && m.receiver == mainName && m.Sender == mainName && m.code == 0 && m.Delay == 0
}

// name returns what identifies the work besides the slice within it and its sender: its code. 0 is
// that of each posted runnable.
func (m *message) name() string {
	switch {
	case m.code != 0:
		return fmt.Sprintf("message %d", m.code)
	case m.Inside != "":
		return ""
	case m.coded:
		return "message 0"
	}
	return "message"
}

// receivers are the receiving threads as units.
type receivers struct {
	*messages
	units  tasks.Units[receiver]
	out    *tasks.List
	byName map[owned]int
}

// receiver is a thread by its number, or, if it received nothing, by its name.
type receiver struct {
	thread int
	owned
}

// unit returns the unit of a message, false if there are too many. Of a message that was not received
// only the name of the thread is known.
func (r *receivers) unit(one *message) (int, bool) {
	name, isMain := owned{one.process, one.receiver}, one.receiver == mainName
	key := receiver{thread: one.thread}
	if one.thread == threads.None {
		if at, known := r.byName[name]; known {
			return at, true
		}
		key.owned = name
	} else if isMain = r.isMain(one.thread); name.name == "" {
		name.name = r.javaName(one.thread)
	}
	if at, known := r.units.Known(key); known {
		return at, true
	}
	unit := tasks.Looper(name.name, isMain)
	unit.Name = r.unique(name)
	at, ok := r.units.Of(key, unit)
	if _, taken := r.byName[name]; ok && !taken {
		r.byName[name] = at
	}
	return at, ok
}

// unique returns the name of a thread, with that of its process where the app has several.
func (r *receivers) unique(key owned) string {
	name := key.name
	taken := func(name string) bool {
		return slices.ContainsFunc(r.out.Units, func(one tasks.Unit) bool { return one.Name == name })
	}
	if taken(name) {
		name = fmt.Sprintf("%s (%s)", key.name, r.threads.Processes[key.process].Name)
	}
	for n := 2; taken(name) && n < 100; n++ {
		name = fmt.Sprintf("%s (%d)", key.name, n)
	}
	return name
}
