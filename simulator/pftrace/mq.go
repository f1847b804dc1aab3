package pftrace

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/simulator/internal/dispatch"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// Fields of track events (track_event/track_event.proto, track_descriptor.proto, and of Android's
// own extension android_track_event.proto).
const (
	packetTrackEvent = 11
	packetTrack      = 60
	packetDefaults   = 59

	typeBegin, typeEnd, typeInstant, typeCounter = 1, 2, 3, 4

	eventCategory, eventName, eventType, eventTrack, eventValue, eventFlow, eventEnds = 3, 10, 9, 11, 30, 47, 48

	messageQueue = 2004 // of an event: AndroidMessageQueue

	categoryMQ            = 1 // interned
	nameSend, nameReceive = 1, 2

	sequenceSDK = 1_000 // the first of those of apps' threads
)

// Messages writes what the loopers of an app tell with the category mq (android.os.MessageQueue and
// Looper of Android 16): each message as it is sent and while it is handled, and how many wait. A
// removed message, as the barrier before each frame, has no end. ahead is the offset of
// CLOCK_BOOTTIME from the timeline.
func (w *Writer) Messages(t *timeline.Timeline, pid int32, api int, during timeline.Interval, ahead time.Duration) {
	k := newKernel(t, Ftrace{}, api, during)
	defer k.close()
	q := &queues{pid: pid, tids: map[string]int32{javaMain: pid}, waiting: map[string]int64{}, flows: map[uint32]bool{}}
	for _, one := range k.tasks(t, pid) {
		if one.TID != 0 {
			q.tids[one.Thread] = one.TID
		}
		q.task(one)
	}
	for _, one := range k.turns(t, pid) {
		q.frame(one)
	}
	ends := during.To
	if main, known := k.threads[pid]; known && main.Ended > 0 {
		ends = min(ends, main.Ended)
	}
	v := sdk{w: w, k: k, q: q, ahead: ahead, sequences: map[int32]int{}}
	slices.SortStableFunc(q.steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	for _, s := range q.steps {
		shown := s.at >= during.From && s.at <= ends
		q.waiting[s.receiver] += s.change
		if tid := q.tids[s.writer]; shown && tid != 0 {
			v.write(s, tid)
		}
	}
}

// javaMain is the name of the UI thread in Java.
const javaMain = "main"

// queues are the messages of a process.
type queues struct {
	pid     int32
	tids    map[string]int32 // by names of threads in Java
	waiting map[string]int64 // by receiver
	flows   map[uint32]bool
	steps   []step
}

// step is something that happens to a message.
type step struct {
	at               time.Duration
	writer, receiver string // threads
	sender           string
	kind             uint64 // of its event
	change           int64  // of the number of waiting messages
	flow             uint32 // 0: none
	code             int32
	delay            time.Duration
}

// flow returns a new number of a message: those of a process rise and wrap.
func (q *queues) flow(sent time.Duration) uint32 {
	n := uint32(sent.Microseconds())
	for n == 0 || q.flows[n] {
		n++
	}
	q.flows[n] = true
	return n
}

func (q *queues) task(t timeline.Task) {
	if !t.Unit.Kind.Looper() {
		return
	}
	code := t.What.Code
	if t.Shows {
		code = t.Code
	}
	m := step{receiver: dispatch.LooperThread(t.Unit), sender: t.Sender, code: int32(code), delay: t.Delay, flow: q.flow(t.Scheduled)}
	q.message(m, t.Scheduled, t.Started, t.Done, t.Removed)
}

// frame adds the messages of a frame: the barrier that keeps others back until the views are drawn
// (ViewRootImpl.scheduleTraversals), and the vsync, whose time is when it is due
// (Choreographer.FrameDisplayEventReceiver.onVsync).
func (q *queues) frame(t turn) {
	const before = 2 * time.Millisecond
	barrier, vsync := t.From-before, t.From-loops
	q.message(step{receiver: javaMain, sender: javaMain, flow: q.flow(barrier)}, barrier, 0, 0, t.frame.Traversals)
	q.message(step{receiver: javaMain, sender: javaMain, flow: q.flow(vsync), delay: t.frame.Vsync - vsync}, vsync, t.From, t.To, 0)
}

// message adds the steps of a message; times that it does not reach are 0.
func (q *queues) message(m step, sent, received, done, removed time.Duration) {
	add := func(at time.Duration, writer string, kind uint64, change int64) {
		s := m
		s.at, s.writer, s.kind, s.change = at, writer, kind, change
		q.steps = append(q.steps, s)
	}
	add(sent, m.sender, typeCounter, 1)
	add(sent, m.sender, typeInstant, 0)
	if removed > 0 {
		add(removed, javaMain, typeCounter, -1)
	}
	if received > 0 {
		add(received, m.receiver, typeCounter, -1)
		add(received, m.receiver, typeBegin, 0)
		add(done, m.receiver, typeEnd, 0)
	}
}

// sdk writes track events as Perfetto's SDK does: each thread has a sequence of its own.
type sdk struct {
	w         *Writer
	k         *kernel
	q         *queues
	ahead     time.Duration
	sequences map[int32]int
	counters  []string // receivers whose counters are described
}

// uuids of tracks.
func (q *queues) process() uint64          { return 0x9e3779b97f4a7c15 * uint64(q.pid) }
func (q *queues) thread(tid int32) uint64  { return q.process() ^ uint64(tid) }
func (q *queues) counter(to string) uint64 { return q.thread(q.tids[to]) ^ 0xb1a4a67d7970839e }

// write writes an event of a thread.
func (v *sdk) write(s step, tid int32) {
	var b []byte
	b = number(b, eventType, s.kind)
	if s.kind == typeInstant || s.kind == typeBegin { // the SDK writes it for no others
		b = number(b, eventCategory, categoryMQ)
	}
	switch s.kind {
	case typeCounter:
		v.describe(s.receiver, tid, s.at)
		b = number(number(b, eventTrack, v.q.counter(s.receiver)), eventValue, uint64(v.q.waiting[s.receiver]))
	case typeInstant:
		b = fixed(number(b, eventName, nameSend), eventFlow, v.flow(s.flow))
		// The delay is whole milliseconds, and below 0 for what was due before.
		m := message(nil, 2, []byte(s.receiver))
		m = number(number(m, 3, uint64(s.code)), 4, uint64(s.delay/time.Millisecond))
		b = message(b, messageQueue, m)
	case typeBegin:
		b = fixed(number(b, eventName, nameReceive), eventEnds, v.flow(s.flow))
		b = message(b, messageQueue, message(nil, 1, []byte(s.sender)))
	}
	v.w.packet(v.sequence(tid, s.at), s.at+v.ahead, needsState, packetTrackEvent, b)
}

// flow returns the id of a flow of the process: a number of 32 bits with a sign, as a long.
func (v *sdk) flow(n uint32) uint64 { return uint64(int64(int32(n))) ^ v.q.process() }

// sequence returns the sequence of a thread, and begins it with its names and tracks.
func (v *sdk) sequence(tid int32, at time.Duration) int {
	if s, begun := v.sequences[tid]; begun {
		return s
	}
	s := sequenceSDK + int(tid)
	v.sequences[tid] = s
	about := func(id uint64, name string) []byte { return message(number(nil, 1, id), 2, []byte(name)) }
	names := message(message(nil, 2, about(nameSend, "message_queue_send")), 2, about(nameReceive, "message_queue_receive"))
	names = message(names, 1, about(categoryMQ, "mq"))
	defaults := message(number(nil, packetClock, clockBoottime), 11, number(nil, eventTrack, v.q.thread(tid)))
	v.w.packetOn(s, at+v.ahead, clockBoottime, stateCleared|needsState, packetInterned, names, message(nil, packetDefaults, defaults))
	one := v.k.threads[tid]
	process := message(number(nil, 1, v.q.process()), 3, message(number(nil, 1, uint64(one.PID)), 6, []byte(one.Process)))
	v.w.packet(s, at+v.ahead, needsState, packetTrack, process)
	thread := message(number(number(nil, 1, uint64(one.PID)), 2, uint64(tid)), 5, []byte(one.Name))
	v.w.packet(s, at+v.ahead, needsState, packetTrack, message(number(number(nil, 1, v.q.thread(tid)), 5, v.q.process()), 4, thread))
	return s
}

// describe describes the counter of a receiver.
func (v *sdk) describe(receiver string, tid int32, at time.Duration) {
	if slices.Contains(v.counters, receiver) {
		return
	}
	v.counters = append(v.counters, receiver)
	b := number(number(nil, 1, v.q.counter(receiver)), 5, v.q.thread(v.q.tids[receiver]))
	v.w.packet(v.sequence(tid, at), at+v.ahead, needsState, packetTrack, message(message(b, 2, []byte(receiver)), 8, nil))
}

func fixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}
