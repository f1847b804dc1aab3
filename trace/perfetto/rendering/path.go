package rendering

import (
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
)

// Limits of the path of one frame.
const (
	maxMoves  = 20_000 // steps back over threads' states
	maxChain  = 8      // threads that wait for one another
	mostSteps = 120    // of a late frame
	fewSteps  = 40     // of another
	maxCuts   = 4_000  // slices at which a running period is split
)

// walker walks back over a frame.
type walker struct {
	h     *history
	d     *drawing
	steps []Step // the last first
	moves int
	chain []int32 // the threads that wait for one another now
	alone bool    // of a thread that draws no frame (Stretch)
}

// why is what a thread of the frame waits for while others work for it.
type why struct{ kind, what, stage string }

// path returns the critical path of a frame in chronological order.
func (r *reader) path(h *history, d *drawing) []Step {
	most := fewSteps
	if d.Class != run.NormalFrames {
		most = mostSteps
	}
	if r.steps+most > maxSteps {
		r.counts.pathless++
		return nil
	}
	w := &walker{h: h, d: d, moves: maxMoves}
	w.walk()
	slices.Reverse(w.steps)
	for i := range w.steps {
		s := &w.steps[i]
		d.use.ran(s.CPU, s.To-s.From, s.KHz)
		s.From, s.To = s.From-d.At, s.To-d.At
	}
	steps := bounded(merged(w.steps), most)
	for i := range steps {
		steps[i].Doing = r.doing(steps[i].Doing)
	}
	return steps
}

// doing interns a step's Doing.
func (r *reader) doing(d *Doing) *Doing {
	one := *d
	one.Thread, one.Process, one.What, one.Slice = r.share(one.Thread), r.share(one.Process), r.share(one.What), r.share(one.Slice)
	if known := r.doings[one]; known != nil {
		return known
	}
	const most = 20_000
	if len(r.doings) >= most {
		clear(r.doings)
	}
	r.doings[one] = &one
	return &one
}

// share interns a text.
func (r *reader) share(text string) string { return r.spans.share(text) }

// walk walks back from the frame's end: over the compositor if it was late, the GPU, the render
// thread and the main thread.
func (w *walker) walk() {
	d := w.d
	at := d.end
	if at > d.app { // the display's frame was late
		if d.composer != none {
			at = w.compose(at)
		} else {
			w.add(Step{From: d.app, To: at, Doing: &Doing{Stage: run.StageComposition, Kind: run.WaitUnknown}}, none)
			at = d.app
		}
	}
	thread := d.main
	if d.draw != none {
		thread = w.h.spans[d.draw].thread
		if d.queued < at {
			s := Step{From: d.queued, To: at, Doing: &Doing{Stage: run.StageGPU, Kind: run.WaitGPU}}
			by := int32(none)
			if d.gpu != none {
				by = w.h.spans[d.gpu].thread
			}
			w.add(s, by)
			at = d.queued
		}
	}
	w.back(thread, d.At, at, nil)
}

// compose walks back over the compositor, to the end of the app's part.
func (w *walker) compose(at time.Duration) time.Duration {
	d := w.d
	last := time.Duration(0)
	for _, row := range w.h.between(d.composer, d.composed, at) {
		if s := &w.h.spans[row]; isComposition(s.name) && s.end() <= at {
			last = max(last, s.end())
		}
	}
	if last > d.app { // from then on the time is the display's
		w.add(Step{From: last, To: at, Doing: &Doing{Stage: run.StageComposition, Kind: run.WaitIdle, What: "the display"}}, none)
		at = last
	}
	w.back(d.composer, d.app, at, nil)
	return d.app
}

// add adds a step before the existing ones.
func (w *walker) add(s Step, thread int32) {
	if s.To <= s.From {
		return
	}
	if s.Does == "" {
		s.Does = s.Kind
	}
	if s.Does != run.WaitRunning || s.CPU < 0 {
		s.CPU = none
	}
	if thread != none {
		s.Thread, s.Process = w.h.name(thread)
		s.TID, s.PID = w.h.threads.Threads[thread].TID, w.h.pid(thread)
	}
	w.steps = append(w.steps, s)
}

// back walks back over a thread from one time to another, and over those that it waited for. reason
// is what a thread of the frame waits for in the meantime, nil for the frame's own threads.
func (w *walker) back(thread int32, from, to time.Duration, reason *why) {
	w.chain = append(w.chain, thread)
	defer func() { w.chain = w.chain[:len(w.chain)-1] }()
	for to > from {
		const rows = 8 // the work of one step back, in rows
		*w.h.work += rows
		if w.moves--; w.moves < 0 {
			w.unknown(thread, from, to, reason)
			return
		}
		s, ended := w.h.stateBefore(thread, to)
		if other := w.handed(thread, s, to); other != none {
			thread = other
			w.chain[len(w.chain)-1] = thread
			continue
		}
		if s == nil {
			thread, to = w.bySlices(thread, max(from, ended), to, reason)
			w.chain[len(w.chain)-1] = thread
			continue
		}
		begin := max(s.At, from)
		switch w.h.sched.Names[s.Name] {
		case running:
			w.ran(thread, begin, to, s.CPU, reason)
		case "R", "R+":
			w.queued(thread, begin, to, reason)
		default:
			w.slept(thread, s, begin, to, reason)
		}
		to = begin
	}
}

// running is the state of a running thread.
const running = "Running"

// unknown adds a period that the trace does not explain.
func (w *walker) unknown(thread int32, from, to time.Duration, reason *why) {
	w.add(w.step(thread, from, to, run.WaitUnknown, "", reason), thread)
}

// step returns a step of a thread. If others wait for it, its kind is the reason of their wait.
func (w *walker) step(thread int32, from, to time.Duration, does, what string, reason *why) Step {
	s := Step{From: from, To: to, CPU: none, Doing: &Doing{Kind: does, Does: does, What: what, Slice: w.sliceAt(thread, to)}}
	if reason != nil {
		s.Kind, s.What, s.Stage = reason.kind, reason.what, reason.stage
		return s
	}
	s.Stage = w.stage(thread, to)
	return s
}

// stage returns the stage that one of the frame's own threads was in.
func (w *walker) stage(thread int32, at time.Duration) string {
	if thread == w.d.composer && thread != none {
		return run.StageComposition
	}
	return w.h.stageAt(thread, at)
}

// sliceAt returns the innermost slice of a thread just before a time that is neither a stage nor a
// wait.
func (w *walker) sliceAt(thread int32, at time.Duration) string {
	for row := w.h.within(thread, at); row != none; row = w.h.spans[row].parent {
		name := w.h.spans[row].name
		if stageOf(name) == "" && !isFrame(name) && waitOf(name) == "" && interfaceOf(name) == "" {
			return name
		}
	}
	return ""
}

// queued adds a period in which a thread waited for a CPU.
func (w *walker) queued(thread int32, from, to time.Duration, reason *why) {
	what := ""
	if next := w.h.next(thread, to); next != nil && next.CPU >= 0 {
		what = w.occupant(int32(next.CPU), thread, from, to)
	}
	w.add(w.step(thread, from, to, run.WaitRunnable, what, reason), thread)
}

// occupant returns the thread that ran on a CPU for the most time: "PROCESS: THREAD".
func (w *walker) occupant(cpu, but int32, from, to time.Duration) string {
	took := map[int32]time.Duration{}
	w.h.turns(cpu, from, to, func(thread int32, t time.Duration) {
		if thread != but {
			took[thread] += t
		}
	})
	most := int32(none)
	for thread, t := range took {
		if t > took[most] || t == took[most] && thread < most {
			most = thread
		}
	}
	return w.displayName(most)
}

// displayName returns a thread with its process, for people: "PROCESS: THREAD", "" for none.
func (w *walker) displayName(thread int32) string {
	name, process := w.h.name(thread)
	switch {
	case process == "" || process == name:
		return name
	case w.h.pid(thread) == w.d.PID:
		return name
	}
	return process + ": " + name
}

// ran adds a period in which a thread ran, split where its slices begin and end.
func (w *walker) ran(thread int32, from, to time.Duration, cpu int16, reason *why) {
	cuts := []time.Duration{from, to}
	if rows := w.h.between(thread, from, to); len(rows) <= maxCuts {
		for _, row := range rows {
			cuts = append(cuts, w.h.spans[row].at, min(w.h.spans[row].end(), to))
		}
	}
	for row := w.h.within(thread, from+1); row != none; row = w.h.spans[row].parent {
		cuts = append(cuts, min(w.h.spans[row].end(), to))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := len(cuts) - 1; i > 0; i-- {
		does := run.WaitRunning
		if kind, _ := w.waitBySlices(thread, cuts[i]); cpu < 0 && kind != "" {
			does = kind // of a thread whose states were not recorded
		}
		s := w.step(thread, cuts[i-1], cuts[i], does, "", reason)
		if row := w.h.within(thread, cuts[i]); reason == nil && row != none {
			s.What = w.h.spans[row].name
		}
		s.CPU, s.KHz = cpu, int32(w.h.mean(cpu, cuts[i-1], cuts[i]))
		w.add(s, thread)
	}
}

// handed returns the thread that passed the work of the frame to this one: one of the same process
// that woke it while it was idle, which it may have been since before the trace began. It returns
// none if there is none, or for the window's thread, whose work comes from the vsync.
func (w *walker) handed(thread int32, s *sched.State, at time.Duration) int32 {
	if s != nil && strings.HasPrefix(w.h.sched.Names[s.Name], "R") {
		return none // it runs or is runnable
	}
	if thread == w.d.main || thread == w.d.composer || w.h.within(thread, at) != none || w.h.callAt(thread, at) != nil {
		return none
	}
	waker := w.waker(thread, at)
	if d := w.d; waker == none && d.do != none && d.draw != none && thread == w.h.spans[d.draw].thread && at <= w.h.spans[d.draw].at {
		waker = d.main // it passes each frame to the render thread (DrawFrameTask::drawFrame)
	}
	if slices.Contains(w.chain, waker) {
		return none
	}
	if pid := w.h.pid(thread); pid == 0 || w.h.pid(waker) != pid {
		return none
	}
	return waker
}

// bySlices adds a period known only from slices, back to where another thread's slice continues it.
// It returns that thread, and from when.
func (w *walker) bySlices(thread int32, from, to time.Duration, reason *why) (int32, time.Duration) {
	row := w.h.within(thread, to)
	d := w.d
	switch {
	case row == none && reason == nil && d.draw != none && thread == w.h.spans[d.draw].thread && d.main != none && thread != d.main:
		return d.main, to
	case row == none:
		begin := from
		for _, other := range w.h.between(thread, from, to) {
			begin = max(begin, min(w.h.spans[other].end(), to))
		}
		kind := run.WaitUnknown
		if thread == d.main && d.do != none {
			kind = run.WaitIdle
		}
		w.add(w.step(thread, begin, to, kind, "", reason), thread)
		return thread, begin
	}
	top := row
	for w.h.spans[top].parent != none {
		top = w.h.spans[top].parent
	}
	begin := max(from, w.h.spans[top].at)
	w.ran(thread, begin, to, none, reason)
	return thread, begin
}

// merged joins consecutive steps that are equal.
func merged(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		if n := len(out); n > 0 && same(&out[n-1], &s) {
			out[n-1] = joined(out[n-1], s)
			continue
		}
		out = append(out, s)
	}
	return out
}

// same reports whether two steps differ only in their time and CPU.
func same(a, b *Step) bool {
	return a.TID == b.TID && a.Thread == b.Thread && a.Kind == b.Kind && a.Does == b.Does && a.What == b.What && a.Slice == b.Slice && a.Stage == b.Stage
}

// joined returns two steps as one with the longer one's Doing.
func joined(a, b Step) Step {
	long, short := a, b
	if b.To-b.From > a.To-a.From {
		long, short = b, a
	}
	if long.KHz > 0 && short.KHz > 0 {
		l, s := float64(long.To-long.From), float64(short.To-short.From)
		long.KHz = int32((float64(long.KHz)*l + float64(short.KHz)*s) / (l + s))
	}
	long.From, long.To = a.From, b.To
	return long
}

// bounded reduces steps to at most `most`. Short ones are merged into a longer neighbour: of the
// same thread and kind if possible, so that the total of each kind stays, and of another only if
// they are much shorter.
func bounded(steps []Step, most int) []Step {
	const shorter = 32
	for limit := time.Duration(1000); len(steps) > most; limit *= 2 {
		var out []Step
		for _, s := range steps {
			if n := len(out); n > 0 {
				least := min(s.To-s.From, out[n-1].To-out[n-1].From)
				alike := out[n-1].TID == s.TID && out[n-1].Kind == s.Kind && out[n-1].Does == s.Does
				if alike && least < limit || least < limit/shorter {
					out[n-1] = joined(out[n-1], s)
					continue
				}
			}
			out = append(out, s)
		}
		steps = merged(out)
	}
	return slices.Clip(slices.Clone(steps))
}
