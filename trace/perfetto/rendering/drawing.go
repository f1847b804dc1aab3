package rendering

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/perfetto/frames"
)

// drawing is a frame that was analyzed, or will be. Its times are on the trace's own clock.
type drawing struct {
	Frame
	end time.Duration // of the frame as it counts
	app time.Duration // of the app's own part of it

	verdict  verdict
	display  int32         // the process of the display's frame that shows it, none if unknown
	composer int32         // SurfaceFlinger's main thread, none if unknown
	composed time.Duration // when the display's frame began
	shown    time.Duration // and ended, 0 if unknown
	main     int32
	do, draw int32 // slices of Choreographer and of the render thread, none if not found
	gpu      int32 // the slice of the wait for the GPU
	queued   time.Duration
	behind   bool // it waited for the buffer before it, and was ready when its own turn came
	use      use
	turns    bool     // use includes what ran on the CPUs
	slices   [2]slice // in traces without a frame timeline: doFrame and DrawFrame
}

// cpus is the CPUs that a frame used.
type cpus struct {
	use   use
	turns bool // use includes what ran on the CPUs
}

// verdict is the frame timeline's verdict on a frame, all false if it was not recorded.
type verdict struct{ known, janky, byDisplay, stuffed, unknown bool }

// fromTimeline lists the frames of the frame timeline.
func (r *reader) fromTimeline(timeline *frames.Reader) {
	by := r.byLayer(timeline)
	drawn := timeline.Drawn(func(pid int) bool {
		name := ""
		if one := r.roster.Processes[int32(pid)]; one != nil {
			name = one.Name
		}
		return r.app.has(int32(pid), name) || name == "" && by[int32(pid)]
	})
	if len(drawn) == 0 {
		return
	}
	r.source = FrameTimeline
	shows := map[int32]int32{} // the display's frame that shows an app's
	timeline.Shown(func(app, display int32) { shows[app] = display })
	due := map[int64]time.Duration{} // of the display's frames, by token
	for i := range timeline.Frames.Rows {
		if f := &timeline.Frames.Rows[i]; !f.Actual && !f.Surface && f.For >= 0 {
			due[f.Token] = f.At + f.For
		}
	}
	for i := range drawn {
		one := &drawn[i]
		switch {
		case one.End == frames.Unended:
			r.counts.unended++
			continue
		case one.End == frames.Dropped:
			r.counts.dropped++
			continue
		case one.Took == jank.Unknown:
			r.counts.forgotten++
			continue
		case len(r.pending) >= maxFrames:
			r.counts.beyond++
			continue
		}
		d := &drawing{display: none}
		var display *frames.Frame
		if place, known := shows[one.Place]; known {
			display = &timeline.Frames.Rows[place]
		}
		f := &timeline.Frames.Rows[one.Place]
		d.Layer = strings.TrimPrefix(timeline.Layers[f.Layer], "TX - ")
		d.setVerdict(one, f, display, due)
		r.pending = append(r.pending, d)
	}
	slices.SortStableFunc(r.pending, func(a, b *drawing) int { return cmp.Compare(a.end, b.end) })
}

// byLayer returns the processes that draw into windows of the app: a trace may have no names of
// processes, and a window is called "TX - PACKAGE/ACTIVITY#NUMBER".
func (r *reader) byLayer(timeline *frames.Reader) map[int32]bool {
	out := map[int32]bool{}
	for i := range timeline.Frames.Rows {
		if f := &timeline.Frames.Rows[i]; strings.HasPrefix(timeline.Layers[f.Layer], "TX - "+r.app.Package+"/") {
			out[f.PID] = true
		}
	}
	return out
}

// setVerdict sets the verdict of the frame timeline on a frame and the display's frame that shows it,
// nil if unknown; due has the deadlines of frames of the display.
func (d *drawing) setVerdict(drawn *frames.Drawing, f, s *frames.Frame, due map[int64]time.Duration) {
	d.verdict = verdict{known: true, janky: drawn.Janky, byDisplay: f.LateByDisplay(), stuffed: f.Stuffed(), unknown: f.Undecided()}
	d.Token, d.PID = f.Token, f.PID
	d.At, d.Took, d.Ready = drawn.At, drawn.Took, -1
	d.app = d.At + d.Took
	if drawn.Due {
		d.Deadline = d.Took - drawn.Over
	}
	if kind := f.JankType(); kind != "None" && kind != "Unspecified" {
		d.Jank = kind
	}
	d.end = d.app
	if s == nil {
		return
	}
	d.display = s.PID
	if s.For < 0 {
		return
	}
	d.composed, d.shown = s.At, s.At+s.For
	if d.verdict.byDisplay && d.shown > d.app {
		d.end, d.Took = d.shown, d.shown-d.At
		if at, known := due[s.Token]; known && at > d.At {
			d.Deadline = at - d.At
		}
	}
}

// class returns the frame's class, from the trace's verdict and its buffers.
func (d *drawing) class() string {
	over := d.Deadline > 0 && d.Took > d.Deadline || d.Deadline == 0 && d.Took > jank.SlowLimit
	late := over
	if d.verdict.known {
		late = d.verdict.janky || d.verdict.byDisplay
		over = over || d.verdict.stuffed
	}
	// Android's own verdict, if any, takes precedence over counters: it knows when the frame was
	// shown.
	if late && (!d.verdict.known && d.behind || d.verdict.unknown && d.Ready > 0) {
		late = false
	}
	switch {
	case !late && over:
		return run.BufferedFrames
	case !late:
		return run.NormalFrames
	case d.Took > jank.FrozenLimit:
		return run.FrozenFrames
	}
	return run.SlowFrames
}

// look analyzes a frame that is over.
func (r *reader) look(h *history, d *drawing) {
	d.composer, d.main = none, h.main(d.PID)
	if d.display != none {
		d.composer = h.main(d.display)
	}
	if !d.verdict.known {
		d.Layer = r.buffers.filled(&r.work, []string{r.app.Package, processOf(r.threads, r.roster, d.PID)}, d.slices[1].at, d.end+settled)
	}
	if !d.verdict.known {
		d.meantFor(h.asked(d, r.vsyncs))
	}
	period := d.Deadline
	if period <= 0 {
		period = jank.SlowLimit
	}
	d.find(h)
	// The compositor takes a buffer at some time within each period. A quarter of a period before
	// the deadline it has taken that of the period before, and not yet the one that this frame was
	// to be.
	d.Ready = d.ready(h, r.buffers, d.At+period-min(period, jank.SlowLimit)/4)
	d.behind = !d.verdict.known && d.isBehind(r.buffers, period)
	d.Class = d.class()
	if r.work < maxWork {
		if r.stages < allStages {
			d.Stages = h.stagesOf(d)
			r.stages += len(d.Stages)
		} else {
			r.counts.stageless++
		}
		d.Path = r.path(h, d)
		r.steps += len(d.Path)
	} else {
		r.counts.pathless++
	}
	if len(h.sched.Turns.Rows) > 0 && r.work < maxWork {
		d.use.occupied(h, len(r.clocks), d.At, d.end)
		d.turns = true
	}
}

// ready returns how many buffers waited at a time and could have been shown: not those that the GPU
// still draws into, nor the frame's own. It returns -1 if unknown, or if it was not analyzed.
func (d *drawing) ready(h *history, b *buffers, at time.Duration) int {
	if *h.work >= maxWork {
		return -1
	}
	n := b.ready(d.Layer, at)
	if n > 0 && d.queued <= at {
		n--
	}
	const longest = time.Second
	for _, row := range h.amid(h.draws[d.PID], at-longest, d.queued) {
		if s := &h.spans[row]; strings.HasPrefix(s.name, gpuWait) && s.end() > at {
			return min(n, 0) // of a frame before it, and later buffers wait behind that one
		}
	}
	return n
}

// isBehind reports whether the compositor took the buffer before the frame's own only after the
// frame was due, and its own was ready a period after that: what Android 12 and later call
// stuffing, and no miss of the app (FrameTimeline.cpp, SurfaceFrame::classifyJankLocked).
func (d *drawing) isBehind(b *buffers, period time.Duration) bool {
	taken := b.before(d.Layer, d.queued)
	return taken >= d.At+period && d.end < taken+period
}

// find finds the slices of the frame on the app's threads.
func (d *drawing) find(h *history) {
	const slack = time.Millisecond // the ends of the timeline and of the slice are not recorded at the same time
	d.do, d.draw, d.gpu, d.queued = none, none, none, d.app
	if *h.work >= maxWork {
		return
	}
	for _, row := range h.amid(h.draws[d.PID], d.At-slack, d.app+slack) {
		s := &h.spans[row]
		switch {
		case strings.HasPrefix(s.name, doFrame) && d.is(tokenOf(s.name, doFrame), s.at):
			d.do, d.main = row, s.thread // some apps have windows on other threads
		case strings.HasPrefix(s.name, drawFrame) && d.is(tokenOf(s.name, drawFrame), s.at):
			d.draw = row
		case strings.HasPrefix(s.name, drawAlone) && d.alone(tokenOf(s.name, drawAlone), s.at) && (d.draw == none || strings.HasPrefix(h.spans[d.draw].name, drawAlone)):
			d.draw = row
		case strings.HasPrefix(s.name, gpuWait) && s.end() <= d.app+slack && s.end() > d.app-slack:
			d.gpu = row
		}
	}
	if d.draw == none {
		return
	}
	s := &h.spans[d.draw]
	d.queued = min(s.end(), d.app)
	for _, row := range h.between(s.thread, s.at, d.queued) {
		if q := &h.spans[row]; strings.HasPrefix(q.name, "queueBuffer") && q.end() <= d.queued {
			d.queued = max(q.end(), s.at)
		}
	}
	if !d.verdict.known {
		d.findGPU(h)
	}
}

// findGPU finds the wait for the GPU of a frame whose end is otherwise unknown: the first that
// begins when its buffer is queued, or when the wait before it is over. One thread waits for all of
// them in turn (FenceMonitor of Android's Surface.cpp).
func (d *drawing) findGPU(h *history) {
	const near, longest = time.Millisecond, time.Second
	from := d.queued
	for _, row := range h.amid(h.draws[d.PID], d.queued-longest, d.queued+longest) {
		s := &h.spans[row]
		switch {
		case !strings.HasPrefix(s.name, gpuWait) || s.took < 0:
		case s.at < d.queued-near:
			from = max(from, s.end())
		case s.at < from+leastPeriod && d.gpu == none:
			d.gpu = row
		}
	}
	if d.gpu != none {
		d.app = max(d.app, h.spans[d.gpu].end())
		d.end, d.Took = d.app, d.app-d.At
	}
}

// alone reports whether a slice drawn by the render thread alone belongs to the frame: older
// versions do not number it.
func (d *drawing) alone(token int64, at time.Duration) bool {
	return d.verdict.known && (token == d.Token || token == 0 && at <= d.app)
}

// is reports whether a slice with or without a number, which begins at a time, belongs to the
// frame.
func (d *drawing) is(token int64, at time.Duration) bool {
	if d.verdict.known {
		return token == d.Token
	}
	return at == d.slices[0].at || at == d.slices[1].at
}

// slice is one of Choreographer or of a render thread that has ended.
type slice struct {
	at, end time.Duration
	thread  int32
	token   int64
	draws   bool
}

// drew records a slice of a frame.
func (r *reader) drew(s *span) {
	one := slice{at: s.at, end: s.at + s.took, thread: s.thread}
	switch {
	case strings.HasPrefix(s.name, doFrame):
		one.token = tokenOf(s.name, doFrame)
	case strings.HasPrefix(s.name, drawFrame):
		one.token, one.draws = tokenOf(s.name, drawFrame), true
	default:
		return
	}
	if r.file.Room("slices of frames", len(r.started), maxRows) {
		r.started = append(r.started, one)
	}
}

// fromSlices lists the frames that ended before a time by their slices, if there is no frame
// timeline. The main thread waits in its part of a frame until the render thread has begun its own
// (libs/hwui/renderthread/DrawFrameTask.cpp, postAndWait).
func (r *reader) fromSlices(before time.Duration) {
	if len(r.started) == 0 { // none are recorded if there is a frame timeline
		return
	}
	h := &history{threads: r.threads, roster: r.roster}
	slices.SortStableFunc(r.started, func(a, b slice) int { return cmp.Compare(a.at, b.at) })
	r.findPeriod()
	var left []slice
	for i, do := range r.started {
		pid := h.pid(do.thread)
		if do.draws || !r.app.has(pid, processOf(r.threads, r.roster, pid)) || r.threads.Threads[do.thread].TID != pid {
			continue
		}
		if do.end >= before {
			left = append(left, do)
			continue
		}
		draw := slice{}
		for _, other := range r.started[i:] {
			if other.at > do.end || r.work > maxWork {
				break
			}
			r.work++
			if other.draws && h.pid(other.thread) == pid && (other.token == do.token || other.token == 0) {
				draw = other
			}
		}
		if draw.end > 0 {
			r.addSlices(pid, do, draw)
		}
	}
	for _, one := range r.started {
		if one.draws && one.end >= before {
			left = append(left, one)
		}
	}
	r.started = left
	slices.SortStableFunc(r.pending, func(a, b *drawing) int { return cmp.Compare(a.end, b.end) })
}

// addSlices adds a frame with both of its slices.
func (r *reader) addSlices(pid int32, do, draw slice) {
	if len(r.pending)+len(r.done) >= maxFrames {
		r.counts.beyond++
		return
	}
	r.source = DoFrame
	d := &drawing{end: max(do.end, draw.end), display: none, slices: [2]slice{do, draw}}
	d.Token, d.PID, d.Ready, d.At = do.token, pid, -1, do.at
	if i, _ := slices.BinarySearch(r.vsyncs, do.at+1); i > 0 && do.at-r.vsyncs[i-1] < max(r.period, leastPeriod) {
		d.At = r.vsyncs[i-1]
	}
	d.Deadline = r.period
	d.app, d.Took = d.end, d.end-d.At
	r.pending = append(r.pending, d)
}

// leastPeriod is shorter than the time between two vsyncs of any display, longestPeriod is that of
// 24 Hz: a longer one only means that apps drew less often.
const (
	leastPeriod   = 2 * time.Millisecond
	longestPeriod = time.Second / 24
)

// findPeriod derives the display's period from the counter of the apps' vsync, which toggles at
// each (DispSyncSource.cpp, later the tracers of Scheduler). If that was not recorded, it is the
// distance between beginnings of frames, unless that is more than a period of 60 Hz: an app may
// draw less often.
func (r *reader) findPeriod() {
	const most = 10_000
	begun := map[int32]time.Duration{} // the last frame of each main thread
	for _, one := range r.started {
		if one.draws {
			continue
		}
		if last, known := begun[one.thread]; known && len(r.apart) < most {
			r.apart = append(r.apart, one.at-last)
		}
		begun[one.thread] = one.at
	}
	var vsyncs []time.Duration
	for i := 1; i < len(r.vsyncs); i++ {
		vsyncs = append(vsyncs, r.vsyncs[i]-r.vsyncs[i-1])
	}
	if period := usual(vsyncs); period > 0 && period <= longestPeriod {
		r.period, r.counts.guessed = period, false
	} else if period := usual(r.apart); r.period == 0 && period > 0 && period <= jank.SlowLimit {
		r.period, r.counts.guessed = period, true
	}
}

// usual returns the period that most distances are a multiple of: the 10th percentile. It returns 0
// if there are too few.
func usual(apart []time.Duration) time.Duration {
	const least = 10
	apart = slices.DeleteFunc(slices.Clone(apart), func(d time.Duration) bool { return d < leastPeriod })
	if len(apart) < least {
		return 0
	}
	slices.Sort(apart)
	return apart[len(apart)/10]
}
