package rendering

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/frames"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// Limits of what is kept, at one time and in total.
const (
	maxRows   = 100_000 // turns, states or slices, before finished frames are analyzed and dropped
	maxFrames = 100_000
	maxSteps  = 2_000_000       // of the paths of all frames
	allStages = 1_000_000       // of all frames
	behind    = time.Second     // kept before the first unfinished frame
	settled   = time.Second / 5 // after a frame's end, all its events have come
)

// Read reads an app's frames from a trace. The frame timeline may be anywhere in the file, and is
// read in the first pass, for the clocks. The readers beside take part in the second pass. It
// returns an error only where reading fails.
func Read(in packets.Source, app App, beside ...packets.Reader) (Trace, error) {
	return read(in, app, maxRows, 0, beside...)
}

// read is Read with limits of rows and of work.
func read(in packets.Source, app App, rows, work int, beside ...packets.Reader) (Trace, error) {
	r := newReader(app, rows)
	r.work = work
	kernel := &packets.Losses{Source: "linux.ftrace"}
	if err := in(r.file, append([]packets.Reader{r.threads, r.sched, r, kernel}, beside...)...); err != nil {
		return Trace{}, err
	}
	r.settle(packets.MaxTime)
	return r.trace(r.survey.lost.Chunks(), kernel.Chunks()), nil
}

// survey is what is read first: frames, processes, and the frequencies of CPUs.
type survey struct {
	frames   *frames.Reader
	lost     *packets.Losses
	roster   *threads.Roster
	machine  uint32         // the lowest with processes
	possible [maxCPUs]int64 // kHz
}

func newSurvey(f *packets.File) *survey {
	return &survey{
		frames: frames.NewEarly(f), lost: &packets.Losses{Source: "android.surfaceflinger.frametimeline"},
		roster: threads.NewRoster(packets.New()), machine: math.MaxUint32,
	}
}

// Wants returns process trees and the CPUs.
func (s *survey) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{field.PacketProcessTree, field.PacketCPUInfo}}
}

// Packet reads a packet. Of several machines the lowest counts.
func (s *survey) Packet(p packets.Packet) {
	if p.Machine < s.machine {
		s.machine, s.possible = p.Machine, [maxCPUs]int64{}
		clear(s.roster.Processes)
		clear(s.roster.Threads)
	}
	switch {
	case p.Machine != s.machine:
	case p.Kind == field.PacketProcessTree:
		s.roster.Tree(p.Data)
	default:
		s.cpus(p.Data)
	}
}

// cpus reads a CpuInfo: the frequencies that each CPU has.
func (s *survey) cpus(message []byte) {
	cpu := 0
	info := messages.CPUInfoOf(message)
	for one := range info.Cpus.Each {
		if cpu >= maxCPUs {
			break
		}
		m := messages.CPUInfoCPUOf(one)
		for khz := range m.Frequencies.Each {
			s.possible[cpu] = max(s.possible[cpu], int64(uint32(khz)))
		}
		cpu++
	}
}

// has reports whether a process is the app's.
func (a App) has(pid int32, name string) bool {
	if a.Process != nil && a.Process(int(pid)) {
		return true
	}
	if a.Package == "" || name == "" {
		return false
	}
	// The kernel keeps only the last 15 bytes of a name (TASK_COMM_LEN, and set_process_name of
	// Android's app_main.cpp).
	const most = 15
	return name == a.Package || strings.HasPrefix(name, a.Package+":") || len(name) == most && strings.HasSuffix(a.Package, name)
}

// Owns reports whether a step is of one of the app's threads.
func (a App) Owns(s Step) bool { return a.has(s.PID, s.Process) }

// reader tracks the events of a trace, and analyzes frames once they are over.
type reader struct {
	file     *packets.File
	app      App
	survey   *survey
	roster   *threads.Roster
	threads  *threads.Tracker
	sched    *sched.Reader
	spans    *spans
	calls    *calls
	disk     []request
	clocks   []frequencies
	possible [maxCPUs]int64
	buffers  *buffers
	vsyncs   []time.Duration // toggles of the counter of the apps' vsync
	period   time.Duration   // of the display, 0 if unknown

	apart []time.Duration // between the beginnings of frames

	source  string
	pending []*drawing // frames not analyzed yet, by their end
	done    []Frame    // analyzed frames
	used    []cpus     // of each of them
	started []slice    // of Choreographer and of render threads, if frames are derived from these
	steps   int        // of all analyzed frames

	stretches []stretch // not looked at yet
	stretched [][]Step  // by App.Stretches

	stages int // likewise
	work   int // rows examined for them
	now    time.Duration
	rows   int // kept at one time, of each kind, unless a frame needs more
	next   int // the number of rows at which finished frames are analyzed
	counts doubts
	doings map[Doing]*Doing // of steps
}

func newReader(app App, rows int) *reader {
	f := packets.New()
	s := newSurvey(f)
	r := &reader{
		file: f, app: app, survey: s, roster: s.roster, rows: rows, next: rows,
		buffers: newBuffers(f, app.Package), doings: map[Doing]*Doing{},
	}
	r.threads = threads.New(f)
	r.sched = sched.New(f, r.threads, sched.Keep{Turns: true, States: true, Wakeups: true})
	r.spans, r.calls = newSpans(f, r.threads), newCalls(f, r.threads)
	return r
}

// First returns the readers of what frames need before the first event.
func (r *reader) First() []packets.Reader {
	return []packets.Reader{r.survey.frames, r.survey, r.survey.lost}
}

// Surveyed converts the timeline's frames and releases them.
func (r *reader) Surveyed() {
	timeline := r.survey.frames
	if r.file.HasClock() {
		timeline.Resolve()
	}
	r.possible = r.survey.possible
	r.counts.lostFrames = timeline.Gaps + timeline.Malformed + r.file.TooMany["frames"]
	r.fromTimeline(timeline)
	r.placeStretches()
	r.survey.frames = nil
}

// Wants returns the events from which frames and their waits are derived.
func (r *reader) Wants() packets.Wants {
	events := []protowire.Number{
		field.EventBinderTransaction, field.EventBinderTransactionReceived, field.EventCPUFrequency,
		field.EventBlockRqIssue, field.EventF2fsSyncFileEnter, field.EventF2fsSyncFileExit, field.EventExt4SyncFileEnter, field.EventExt4SyncFileExit,
	}
	return packets.Wants{
		Packets:  []protowire.Number{field.PacketTrackDescriptor, field.PacketThreadDescriptor, field.PacketTrackEvent},
		Interned: trackevent.Interned(false),
		Events:   append(events, atrace.Events...),
	}
}

// Packet reads an event of a track, or the description of a track.
func (r *reader) Packet(p packets.Packet) { r.spans.packet(p) }

// Event reads an event of the kernel. The tracker and the scheduler's reader have already read it.
func (r *reader) Event(e *packets.Event) {
	r.now = e.At
	switch e.Kind {
	case field.EventBinderTransaction:
		r.calls.transaction(e)
	case field.EventBinderTransactionReceived:
		r.calls.received(e)
	case field.EventCPUFrequency:
		r.frequency(e)
	case field.EventBlockRqIssue:
		r.request(e)
	case field.EventF2fsSyncFileEnter, field.EventExt4SyncFileEnter:
		r.spans.begin(e.At, int32(r.threads.Of(e.TID)), syncing)
	case field.EventF2fsSyncFileExit, field.EventExt4SyncFileExit:
		r.synced(e)
	default:
		if p, ok := atrace.Of(e); ok {
			r.point(e, p)
		}
	}
	if r.kept() >= r.next {
		r.settle(r.now - settled)
		r.forget()
	}
}

// synced ends the slice of a file that is written out.
func (r *reader) synced(e *packets.Event) {
	thread := int32(r.threads.Of(e.TID))
	if r.spans.innermost(thread) == syncing {
		r.spans.end(e.At, thread)
	}
}

// point reads a line that a program wrote.
func (r *reader) point(e *packets.Event, p atrace.Point) {
	switch p.Phase {
	case 'B':
		thread := int32(r.threads.Of(e.TID))
		r.spans.begin(e.At, thread, p.Name)
	case 'E':
		if row := r.spans.end(e.At, int32(r.threads.Of(e.TID))); row != none && r.source != FrameTimeline {
			r.drew(&r.spans.list[row])
		}
	case 'C':
		if strings.HasPrefix(p.Name, "VSYNC-app") && len(r.vsyncs) < maxRows {
			r.vsyncs = append(r.vsyncs, e.At)
		}
		r.buffers.count(e.At, p.Name, p.Value)
	}
}

// forget drops what no remaining frame can depend on. If they need more than the limit, the later
// half stays.
func (r *reader) forget() {
	before := r.now
	for _, d := range r.pending {
		before = min(before, d.At)
	}
	for i := range r.started {
		before = min(before, r.started[i].at)
	}
	for _, s := range r.stretches {
		before = min(before, s.from)
	}
	before = max(before-behind, r.halfway())
	r.sched.Forget(before)
	r.spans.forget(before)
	r.calls.forget(before)
	for i := range r.clocks {
		r.clocks[i].forget(before)
	}
	r.buffers.forget(before)
	r.disk = slices.DeleteFunc(r.disk, func(q request) bool { return q.at < before })
	r.vsyncs = slices.DeleteFunc(r.vsyncs, func(at time.Duration) bool { return at < before })
	left := r.kept()
	r.next = max(r.rows, left+left/2)
}

// kept returns the number of rows of the most frequent kind.
func (r *reader) kept() int {
	return max(len(r.sched.Turns.Rows), len(r.sched.States.Rows), r.spans.rows(), len(r.calls.list))
}

// halfway returns when half of the rows of the most frequent kind had begun, if nearly all are
// needed.
func (r *reader) halfway() time.Duration {
	const most = 2 * maxRows
	states, list := r.sched.States.Rows, r.spans.list
	switch {
	case len(states) >= most:
		return states[len(states)/2].At
	case r.spans.rows() >= most:
		return list[len(list)/2].at
	case len(r.sched.Turns.Rows) >= most:
		return r.sched.Turns.Rows[len(r.sched.Turns.Rows)/2].At
	}
	return 0
}

// settle analyzes the frames that ended before a time.
func (r *reader) settle(before time.Duration) {
	r.settleStretches(before)
	r.fromSlices(before)
	over := slices.IndexFunc(r.pending, func(d *drawing) bool { return d.end >= before })
	if over < 0 {
		over = len(r.pending)
	}
	if over == 0 {
		return
	}
	h := newHistory(r)
	for i, d := range r.pending[:over] {
		r.look(h, d)
		r.done, r.used = append(r.done, d.Frame), append(r.used, cpus{slices.Clip(d.use), d.turns})
		r.pending[i] = nil
	}
	r.pending = r.pending[over:]
}

// trace returns the result with its warnings.
func (r *reader) trace(lostFrames, lostKernel int) Trace {
	t := Trace{Source: r.source, Clusters: r.clusters(), Wakers: r.wakers(), Stretches: r.stretched}
	to, monotonic := r.file.Monotonic()
	for i := range r.done {
		d := &r.done[i]
		if monotonic {
			if at, ok := to(d.At); ok {
				d.At = at
			}
		}
		d.Cores = r.used[i].use.cores(t.Clusters, d.Took, r.used[i].turns)
	}
	t.Frames = r.done
	slices.SortStableFunc(t.Frames, func(a, b Frame) int { return cmp.Compare(a.At, b.At) })
	r.counts.lostFrames += lostFrames
	r.counts.lostKernel = lostKernel + r.file.KernelLost()
	t.Lost, t.KernelLost = r.counts.lost(), r.counts.lostKernel
	r.counts.say(r, monotonic)
	t.Warnings = r.file.Warnings.List()
	return t
}

// wakers returns the source of wake-ups.
func (r *reader) wakers() string {
	switch {
	case len(r.sched.States.Rows) == 0:
		return ""
	case r.sched.Wakings > 0:
		return run.WakersWaking
	case r.sched.Wakeups > 0:
		return run.WakersWakeup
	}
	return run.WakersNone
}

// processOf returns the name of the process with an id, "" if it has none. If the trace lists no
// processes, like one written by atrace, it is the kernel's name of the main thread.
func processOf(t *threads.Tracker, roster *threads.Roster, pid int32) string {
	if pid <= 0 {
		return ""
	}
	if process, known := t.Running(pid); known && t.Processes[process].Name != "" {
		return t.Processes[process].Name
	}
	if one := roster.Processes[pid]; one != nil && one.Name != "" {
		return one.Name
	}
	return t.Called(pid)
}
