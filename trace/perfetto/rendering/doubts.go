package rendering

import (
	"time"

	"github.com/apkgate/apkgate/run"
)

// doubts counts what makes the frames of a trace uncertain.
type doubts struct {
	lostFrames int // gaps in the packets of the frame timeline
	lostKernel int // gaps in the kernel's events
	unended    int
	dropped    int
	forgotten  int
	beyond     int  // frames beyond the limit
	guessed    bool // the display's period was derived from the distance of frames
	pathless   int  // without a path, since there are too many
	stageless  int  // without stages, likewise
}

// lost returns the number of possibly missing frames or ends of frames.
func (c *doubts) lost() int { return c.lostFrames + c.unended + c.forgotten + c.beyond }

// say adds the warnings.
func (c *doubts) say(r *reader, monotonic bool) {
	r.file.Doubts()
	w := &r.file.Warnings
	count := func(n int, one, many string) { w.Counted(0, n, one, many) }
	if r.source == DoFrame {
		w.Addf(0, "the trace has no frame timeline (Android 12 and later have one): frames are derived from the slices of Choreographer and of the render thread, and whether one was late by its time and by the buffers that were ready%s", c.rate(r.period))
	}
	if len(r.done) > 0 && len(r.sched.States.Rows) == 0 {
		w.Addf(0, "scheduling was not recorded (sched_switch, sched_waking): what threads waited for is only known from slices, and a thread within a slice is assumed to run")
	}
	if len(r.done) > 0 && r.wakers() == run.WakersNone {
		w.Addf(0, "wake-ups were not recorded (sched_waking, or sched_wakeup): what a sleeping thread waited for is unknown")
	}
	count(c.lostFrames,
		"packets of the frame timeline are missing in %d place: frames may be",
		"packets of the frame timeline are missing in %d places: frames may be")
	count(c.lostKernel,
		"events of the kernel are missing in %d place: paths may be wrong there",
		"events of the kernel are missing in %d places: paths may be wrong there")
	count(c.unended,
		"the end of %d frame is not in the trace: it is left out",
		"the ends of %d frames are not in the trace: they are left out")
	count(c.dropped,
		"%d frame was skipped by the compositor for a newer one: it is left out",
		"%d frames were skipped by the compositor for newer ones: they are left out")
	count(c.forgotten,
		"when %d frame was due is not in the trace: it is left out",
		"when %d frames were due is not in the trace: they are left out")
	count(c.beyond,
		"%d frame more than are kept is left out",
		"%d frames more than are kept are left out")
	count(c.pathless,
		"%d frame has no critical path: those before it took all the steps, or all the work, that there is for paths",
		"%d frames have no critical path: those before them took all the steps, or all the work, that there is for paths")
	count(c.stageless,
		"%d frame has no stages: those before it took all that are kept",
		"%d frames have no stages: those before them took all that are kept")
	if len(r.done) > 0 && !monotonic {
		w.Addf(0, "nothing in the trace leads to CLOCK_MONOTONIC: times are on the trace's own clock")
	}
}

// rate describes the source of the display's period without a frame timeline. The text is the same
// for all traces of a device, so that a run reports it once.
func (c *doubts) rate(period time.Duration) string {
	switch {
	case c.guessed:
		return "; the display's rate (the counter VSYNC-app, of the category gfx) is unknown, and derived from the distance of frames"
	case period == 0:
		return "; the display's rate is unknown, and a frame counts as slow above 16.67 ms"
	}
	return ""
}
