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

// drawing is a frame that is looked at, or will be. Its times are on the trace's own clock.
type drawing struct {
	Frame
	end time.Duration // of the frame as it counts
	app time.Duration // of the app's own part of it

	told     told
	display  int32         // the process of the display's frame that shows it, none where not told
	composer int32         // SurfaceFlinger's main thread, none where not told
	composed time.Duration // when the display's frame began
	shown    time.Duration // and ended, 0 where not told
	main     int32
	do, draw int32 // slices of Choreographer and of the render thread, none where not found
	gpu      int32 // the slice of the wait for the GPU
	queued   time.Duration
	behind   bool // it waited for the buffer before it, and was ready by when its own turn came
	use      use
	turns    bool     // use has what ran on the CPUs
	slices   [2]slice // in traces without a frame timeline: doFrame and DrawFrame
}

// cpus are those that a frame used.
type cpus struct {
	use   use
	turns bool // use has what ran on the CPUs
}

// told is what the frame timeline says of a frame, all false where that is not recorded.
type told struct{ known, janky, byDisplay, stuffed, untold bool }

// fromTimeline lists the frames that the frame timeline tells of.
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
		d.fromTold(one, f, display, due)
		r.pending = append(r.pending, d)
	}
	slices.SortStableFunc(r.pending, func(a, b *drawing) int { return cmp.Compare(a.end, b.end) })
}

// byLayer are the processes that draw into windows of the app: a trace may name no process,
// and a window is called "TX - PACKAGE/ACTIVITY#NUMBER".
func (r *reader) byLayer(timeline *frames.Reader) map[int32]bool {
	out := map[int32]bool{}
	for i := range timeline.Frames.Rows {
		if f := &timeline.Frames.Rows[i]; strings.HasPrefix(timeline.Layers[f.Layer], "TX - "+r.app.Package+"/") {
			out[f.PID] = true
		}
	}
	return out
}

// fromTold fills in what the frame timeline says of a frame and of the display's that shows
// it, nil where that is not told, with when frames of the display were due.
func (d *drawing) fromTold(drawn *frames.Drawing, f, s *frames.Frame, due map[int64]time.Duration) {
	d.told = told{known: true, janky: drawn.Janky, byDisplay: f.LateByDisplay(), stuffed: f.Stuffed(), untold: f.Untold()}
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
	if d.told.byDisplay && d.shown > d.app {
		d.end, d.Took = d.shown, d.shown-d.At
		if at, known := due[s.Token]; known && at > d.At {
			d.Deadline = at - d.At
		}
	}
}

// class is the frame's, from what the trace says of it and of its buffers.
func (d *drawing) class() string {
	over := d.Deadline > 0 && d.Took > d.Deadline || d.Deadline == 0 && d.Took > jank.SlowLimit
	late := over
	if d.told.known {
		late = d.told.janky || d.told.byDisplay
		over = over || d.told.stuffed
	}
	// Android's own word, where it has one, goes before what counters tell: it knows when
	// the frame was shown.
	if late && (!d.told.known && d.behind || d.told.untold && d.Ready > 0) {
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

// look fills in what the trace tells of a frame that is over.
func (r *reader) look(h *history, d *drawing) {
	d.composer, d.main = none, h.main(d.PID)
	if d.display != none {
		d.composer = h.main(d.display)
	}
	if !d.told.known {
		d.Layer = r.buffers.filled(&r.work, []string{r.app.Package, processOf(r.threads, r.roster, d.PID)}, d.slices[1].at, d.end+settled)
	}
	if !d.told.known {
		d.meantFor(h.asked(d, r.vsyncs))
	}
	period := d.Deadline
	if period <= 0 {
		period = jank.SlowLimit
	}
	d.find(h)
	// The compositor takes a buffer somewhere within each period. A quarter of one before the
	// deadline it has taken that of the period before, and not yet the one that this frame
	// was to be.
	d.Ready = d.ready(h, r.buffers, d.At+period-min(period, jank.SlowLimit)/4)
	d.behind = !d.told.known && d.isBehind(r.buffers, period)
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

// ready is how many buffers waited at a time, and could have been shown: none that the GPU
// still draws into, and not the frame's own. -1 where that is not told, or was not looked for.
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
			return min(n, 0) // of a frame before it, and what was queued since then waits behind that
		}
	}
	return n
}

// isBehind reports that the compositor took the buffer before the frame's own only after the
// frame was due, and that its own was there by a period after that: what Android 12 and later
// call stuffing, and no miss of the app (FrameTimeline.cpp, SurfaceFrame::classifyJankLocked).
func (d *drawing) isBehind(b *buffers, period time.Duration) bool {
	taken := b.before(d.Layer, d.queued)
	return taken >= d.At+period && d.end < taken+period
}

// find finds the slices of the frame on the app's threads.
func (d *drawing) find(h *history) {
	const slack = time.Millisecond // the timeline's end and the slice's are not taken at once
	d.do, d.draw, d.gpu, d.queued = none, none, none, d.app
	if *h.work >= maxWork {
		return
	}
	for _, row := range h.amid(h.draws[d.PID], d.At-slack, d.app+slack) {
		s := &h.spans[row]
		switch {
		case strings.HasPrefix(s.name, doFrame) && d.is(tokenOf(s.name, doFrame), s.at):
			d.do, d.main = row, s.thread // some have windows on other threads
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
	if !d.told.known {
		d.findGPU(h)
	}
}

// findGPU finds the wait for the GPU of a frame whose end the trace does not tell otherwise:
// the first that begins when its buffer is queued, or when the one before it is over. One
// thread waits for all of them, one after the other (FenceMonitor of Android's Surface.cpp).
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

// alone reports that what the render thread draws by itself is the frame's: older versions
// don't number it.
func (d *drawing) alone(token int64, at time.Duration) bool {
	return d.told.known && (token == d.Token || token == 0 && at <= d.app)
}

// is reports that a slice with a number, or without, that begins at a time is the frame's.
func (d *drawing) is(token int64, at time.Duration) bool {
	if d.told.known {
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

// drew notes a slice that tells of a frame.
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

// fromSlices lists the frames that slices tell of and that ended before a time: since the
// frame timeline does not. The main thread waits in its part of a frame until the render
// thread has begun with its own (libs/hwui/renderthread/DrawFrameTask.cpp, postAndWait).
func (r *reader) fromSlices(before time.Duration) {
	if len(r.started) == 0 { // none are noted where the frame timeline tells
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

// addSlices adds a frame of both of its slices.
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

// leastPeriod is shorter than the time between two vsyncs of any display, longestPeriod that of
// 24 Hz: what is longer only tells that apps drew less often.
const (
	leastPeriod   = 2 * time.Millisecond
	longestPeriod = time.Second / 24
)

// findPeriod takes the display's period from the counter of the apps' vsync, which toggles
// with each (DispSyncSource.cpp, later the tracers of Scheduler). Where that was not recorded,
// it is how far frames begin apart, unless that is more than a period of 60 Hz: an app may
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

// usual is the period that distances are mostly a multiple of: what one in ten does not reach.
// 0 where too few are there.
func usual(apart []time.Duration) time.Duration {
	const least = 10
	apart = slices.DeleteFunc(slices.Clone(apart), func(d time.Duration) bool { return d < leastPeriod })
	if len(apart) < least {
		return 0
	}
	slices.Sort(apart)
	return apart[len(apart)/10]
}
